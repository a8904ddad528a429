# Python 3.11 or newer with venv is all that has to be there beforehand.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed
OLDEST := .venv-oldest
DEMO := build/demo
ROBOTS := human talos g1
CLOCK := test/nodes $(addprefix test/plants/,board dynamixel serial) $(addprefix test/viewer/test_,page.py server.py session.py simulation.py)

# The matrices are small: threads only get in each other's way.
export OMP_NUM_THREADS := 1
export OPENBLAS_NUM_THREADS := 1

.DEFAULT_GOAL := help
.PHONY: help install demo gallery test test-oldest slow guard gazebo test-gazebo bench clean FORCE

help: ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 20

install: $(INSTALLED) ## create .venv with the package (editable), ROS 2 and the test tools

# pip says a hundred lines when all is well; they are kept, and shown only if it fails.
$(INSTALLED): SHELL := bash
$(INSTALLED): setup.py
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed; try make PYTHON=python3.11")'
	@$(PYTHON) -m venv $(VENV)
	@echo "Installing into $(VENV): about 1.5 GB, two minutes on a quick line"
	@set -o pipefail; $(BIN)/pip install --progress-bar off --editable '.[ros,test]' 2>&1 | tee $(VENV)/install.log | \
		awk '/^ *Collecting/ { printf "\r  %3d packages  %-40.40s", ++n, $$2; fflush() } \
			/^Installing collected/ { printf "\r  installing %-50s", n " packages ..."; fflush() } \
			END { print "\r  done" sprintf("%56s", "") }' \
		|| { cat $(VENV)/install.log; echo "pip could not install the packages; its words are above" >&2; exit 1; }
	@touch $@

demo: install ## push the simulated human with 300 N for 0.1 s; writes a plot and a video
	@rm -rf $(DEMO) && mkdir -p $(DEMO)
	$(BIN)/humanoid-balance push --robot human --force 300 --duration 0.1 --direction 0 \
		--plot $(DEMO)/push.png --video $(DEMO)/push.mp4
	@echo && echo "To look at:" && ls $(DEMO)/*

# What only computes runs on all cores, what watches the clock or starts processes has the machine to itself.
test: install ## ruff, mypy and pytest
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/python -m pytest -m "not slow and not gazebo" -n auto --dist loadfile $(CLOCK:%=--ignore=%)
	$(BIN)/python -m pytest -m "not slow and not gazebo" $(CLOCK)

# The lower ends of the ranges in setup.py, about what a ROS 2 Jazzy machine brings. This release of example-robot-data
# has no g1, so the tests that load it are left out. No ROS, pages or videos here, only physics, QP and pushes.
OLDEST_PINS := pin==3.4.0 cmeel-urdfdom==4.0.1 cmeel-tinyxml2==10.0.0 mujoco==3.3.0 proxsuite==0.7.2 example-robot-data==4.3.0
NEEDS_G1 := g1 or capped or torque_speed or sensor_noise or latencies or centres_of_pressure_inside
test-oldest: $(OLDEST)/.installed ## quick tests of physics, QP and pushes with the oldest libraries that are supported
	PYTHONPATH=. $(OLDEST)/bin/python -m pytest -m "not slow and not gazebo" -k "not ($(NEEDS_G1))" \
		test/robot test/plants/test_mujoco.py test/wholebody/test_controller.py

$(OLDEST)/.installed: setup.py
	@$(PYTHON) -m venv $(OLDEST)
	@echo "Installing the oldest supported libraries into $(OLDEST)"
	@$(OLDEST)/bin/pip install --quiet --editable . $(OLDEST_PINS) pytest hypothesis qpsolvers quadprog
	@touch $@

# Kudoh's experiments on a person (KE1 to KE6), then other robots: name = options of push.
GALLERY := docs/gallery
CLIPS := ke1 ke2 ke3 ke5 ke6 talos g1
ke1 := --robot human:ranges=kudoh --force 300 --duration 0.1 --direction 0 --strategy in-place --delay 0.2
ke2 := --robot human:ranges=kudoh --force 300 --duration 0.1 --direction 180 --strategy in-place --delay 0.2
ke3 := --robot human:ranges=kudoh --force 200 --duration 0.1 --direction 90 --strategy in-place
ke4 := --robot human:ranges=kudoh --force 100 --duration 6 --direction 0 --profile sine --frequency 1 --time 8
ke5 := --robot human:ranges=kudoh --force 300 --duration 0.1 --direction 0 --strategy step
ke6 := --robot human:ranges=kudoh --force 300 --duration 0.4 --direction 0 --time 10
talos := --robot talos --force 450 --duration 0.1 --direction 0
g1 := --robot g1 --force 175 --duration 0.1 --direction 180

# Walking, pushed on the way: name = options of walk.
WALKS := walk_human walk_talos walk_g1
walk_human := --robot human --velocity 1.0 --push 300:0.1:90:3 --time 6
walk_talos := --robot talos --velocity 0.4 --push 300:0.1:0:3 --time 6
walk_g1 := --robot g1 --velocity 0.5 --push 100:0.1:270:3 --time 6

gallery: install $(CLIPS:%=$(GALLERY)/%.webp) $(WALKS:%=$(GALLERY)/%.webp) $(GALLERY)/ke4.png ## make the pictures and clips of docs/gallery.md again
$(GALLERY)/%.webp: FORCE
	$(BIN)/humanoid-balance push $($*) --plot $(GALLERY)/$*.png --video $@
$(GALLERY)/walk_%.webp: FORCE
	$(BIN)/humanoid-balance walk $(walk_$*) --plot $(GALLERY)/walk_$*.png --video $@
$(GALLERY)/ke4.png: FORCE
	$(BIN)/humanoid-balance push $(ke4) --plot $@
FORCE:

slow: install ## the long tests: random searches, fuzzed frames, 10 minutes of standing, 10,000 random states
	HYPOTHESIS_PROFILE=search $(BIN)/python -m pytest -m "slow and not gazebo"

guard: install ## those of the long tests that guard safety and accuracy
	$(BIN)/python -m pytest -m "guard and not gazebo"

gazebo: ## set up Gazebo Classic 11 and build its plugin; from Debian 11 packages (2.9 GB, root) if the system has none
	@gazebo/install.sh

test-gazebo: install gazebo ## the quick tests that run in a real gzserver
	$(BIN)/python -m pytest -m "gazebo and not slow" test/gazebo

bench: install ## time one control tick of each robot
	@set -e; for robot in $(ROBOTS); do $(BIN)/humanoid-balance bench --robot $$robot; done
	$(BIN)/python benchmarks/run.py

clean: ## remove .venv and everything generated
	rm -rf $(VENV) $(OLDEST) build install log dist *.egg-info .mypy_cache .pytest_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
