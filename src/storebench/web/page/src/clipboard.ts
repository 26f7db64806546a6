/** The clipboard. A page that came over plain HTTP from another machine may only put texts there, in the old way. */

/** Put a text there; rejects with the reason if the browser does not let it. */
export async function copyText(text: string): Promise<void> {
  if (navigator.clipboard) return navigator.clipboard.writeText(text);
  const area = document.createElement("textarea");
  area.value = text;
  area.style.position = "fixed"; // nothing scrolls
  document.body.append(area);
  area.select();
  const copied = document.execCommand("copy");
  area.remove();
  if (!copied) throw new Error("The browser does not let this page copy: save it instead");
}

/** Put a picture there, which is drawn if the browser lets it. */
export async function copyPicture(type: string, draw: () => Promise<Blob>): Promise<void> {
  if (!navigator.clipboard?.write || typeof ClipboardItem === "undefined")
    throw new Error("Without HTTPS the browser lets no page copy pictures: save it instead");
  await navigator.clipboard.write([new ClipboardItem({ [type]: draw() })]);
}

const SVG = "image/svg+xml";

/** Put a drawing there, for programs that draw and for those that take texts. */
export async function copySvg(svg: Promise<string>): Promise<void> {
  if (!navigator.clipboard?.write || typeof ClipboardItem === "undefined") return copyText(await svg);
  const as = (type: string) => svg.then((text) => new Blob([text], { type }));
  const types = ["text/plain", ...(ClipboardItem.supports?.(SVG) ? [SVG] : [])];
  await navigator.clipboard.write([
    new ClipboardItem(Object.fromEntries(types.map((type) => [type, as(type)]))),
  ]);
}
