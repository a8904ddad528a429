// Two sticks and the keys to walk a robot, and the frames that this browser draws. Runs in viser's page, once the panel
// that holds the sticks is there; FIELD is the id of the text field that takes "forward left turn", each -1 to 1.
(() => {
  window.walkingStick?.abort(); // of a panel that was closed and opened again
  const stop = (window.walkingStick = new AbortController());
  const listen = (to, kind, what, capture = false) => to.addEventListener(kind, what, { signal: stop.signal, capture });
  const KEYS = {
    KeyW: [1, 0, 0], ArrowUp: [1, 0, 0], KeyS: [-1, 0, 0], ArrowDown: [-1, 0, 0], KeyA: [0, 1, 0], KeyD: [0, -1, 0],
    KeyQ: [0, 0, 1], ArrowLeft: [0, 0, 1], KeyE: [0, 0, -1], ArrowRight: [0, 0, -1],
  };
  const held = new Set();
  const stick = [0, 0, 0];
  let sent = "0 0 0";

  const field = () => {
    let around = document.querySelector('label[for="FIELD"]');
    while (around && !around.querySelector("input")) around = around.parentElement;
    return around?.querySelector("input");
  };
  const set = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value").set;
  const tell = () => {
    const sum = [...stick];
    for (const key of held) KEYS[key].forEach((part, axis) => (sum[axis] += part));
    const words = sum.map((part) => String(Math.round(100 * Math.max(-1, Math.min(1, part))) / 100)).join(" ");
    draw(sum);
    const input = field();
    if (!input || words === sent) return;
    set.call(input, (sent = words)); // React listens to the event, not to the value
    input.dispatchEvent(new Event("input", { bubbles: true }));
  };
  const draw = ([forward, left, turn]) => {
    const place = (id, x, y) => document.getElementById(id)?.setAttribute("transform", `translate(${x} ${y})`);
    const bound = (part) => 38 * Math.max(-1, Math.min(1, part));
    place("walk-knob", -bound(left), -bound(forward));
    place("turn-knob", -bound(turn), 0);
  };

  const typing = (event) => /^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName) || event.target.isContentEditable;
  const slides = (event) => event.code.startsWith("Arrow") && event.target.getAttribute?.("role") === "slider";
  listen(window, "keydown", (event) => {
    if (!(event.code in KEYS) || typing(event) || slides(event)) return;
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    event.preventDefault();
    event.stopImmediatePropagation(); // viser would move the camera
    held.add(event.code);
    tell();
  }, true);
  listen(window, "keyup", (event) => { if (held.delete(event.code)) tell(); }, true);
  listen(window, "blur", () => { held.clear(); stick.fill(0); tell(); });

  const drag = (id, move) => {
    const pad = document.getElementById(id);
    const at = (event) => {
      const box = pad.firstElementChild.getBoundingClientRect(); // without the knob, which moves
      const scale = (part, low, size) => (2 * (part - low - size / 2)) / size;
      move(scale(event.clientX, box.left, box.width), scale(event.clientY, box.top, box.height));
      tell();
    };
    listen(pad, "pointerdown", (event) => { event.preventDefault(); pad.setPointerCapture(event.pointerId); at(event); });
    listen(pad, "pointermove", (event) => { if (pad.hasPointerCapture(event.pointerId)) at(event); });
    for (const kind of ["pointerup", "pointercancel", "lostpointercapture"])
      listen(pad, kind, () => { move(0, 0); tell(); });
  };
  drag("walk-pad", (x, y) => {
    const size = Math.max(1, Math.hypot(x, y)); // all the way is all the way, diagonally, too
    stick[0] = -y / size; stick[1] = -x / size;
  });
  drag("turn-pad", (x) => { stick[2] = -Math.max(-1, Math.min(1, x)); });

  let frames = 0, since = performance.now();
  const count = (now) => {
    if (stop.signal.aborted) return;
    frames += 1;
    if (now - since > 1000) {
      const shown = document.getElementById("frames");
      if (shown) shown.textContent = `${Math.round((1000 * frames) / (now - since))} frames/s drawn here`;
      frames = 0; since = now;
    }
    requestAnimationFrame(count);
  };
  requestAnimationFrame(count);
})();
