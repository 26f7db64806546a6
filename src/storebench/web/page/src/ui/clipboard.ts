/** Copy to the clipboard. A page over plain HTTP from another machine may only copy texts, by the deprecated command. */

/** Copy a text. Rejects with the reason if the browser denies it. */
export async function copyText(text: string): Promise<void> {
  if (navigator.clipboard) return navigator.clipboard.writeText(text);
  const area = document.createElement("textarea");
  area.value = text;
  area.style.position = "fixed"; // avoid scrolling
  document.body.append(area);
  area.select();
  const copied = document.execCommand("copy");
  area.remove();
  if (!copied) throw new Error("The browser does not allow copying: save the file instead");
}

/** Copy a picture, which is drawn only if the browser allows copying. */
export async function copyPicture(type: string, draw: () => Promise<Blob>): Promise<void> {
  if (!navigator.clipboard?.write || typeof ClipboardItem === "undefined")
    throw new Error("Without HTTPS, the browser does not allow copying pictures: save the picture instead");
  await navigator.clipboard.write([new ClipboardItem({ [type]: draw() })]);
}

const SVG = "image/svg+xml";

/** Copy an SVG drawing, both as a picture and as a text. */
export async function copySvg(svg: Promise<string>): Promise<void> {
  if (!navigator.clipboard?.write || typeof ClipboardItem === "undefined") return copyText(await svg);
  const as = (type: string) => svg.then((text) => new Blob([text], { type }));
  const types = ["text/plain", ...(ClipboardItem.supports?.(SVG) ? [SVG] : [])];
  await navigator.clipboard.write([
    new ClipboardItem(Object.fromEntries(types.map((type) => [type, as(type)]))),
  ]);
}
