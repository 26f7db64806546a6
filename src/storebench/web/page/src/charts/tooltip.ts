import type * as vega from "vega";

/** Return a handler that shows a mark's figures beside the mouse, within `host`. It never interprets a text as HTML. */
export function tooltip(host: HTMLElement): vega.TooltipHandler {
  return (_handler, event, _item, value) => {
    let box = host.querySelector<HTMLElement>(".sb-tip");
    if (value === null || value === undefined || typeof value !== "object") {
      box?.remove();
      return;
    }
    if (!box) {
      box = document.createElement("div");
      box.className = "sb-tip";
      box.setAttribute("aria-hidden", "true"); // the table below the chart serves readers who cannot see the tooltip
      host.append(box);
    }
    box.replaceChildren(
      ...Object.entries(value).flatMap(([name, text]) => {
        if (text === "null") return []; // Vega-Lite's text for an absent value
        const line = document.createElement("div");
        const strong = document.createElement("strong");
        strong.textContent = String(text);
        line.append(`${name}: `, strong);
        return [line];
      }),
    );
    const around = host.getBoundingClientRect();
    const left = event.clientX - around.left + 14;
    box.style.left = `${Math.max(0, Math.min(left, around.width - box.offsetWidth - 4))}px`;
    box.style.top = `${event.clientY - around.top + 16}px`;
  };
}
