import { afterEach, expect, it, vi } from "vitest";
import { drawWhileLoading, inTurn, tooltip } from "../../src/charts/drawing";

afterEach(() => vi.unstubAllGlobals());

it("charts are drawn one after the other, each when the browser has time", async () => {
  const waiting: (() => void)[] = [];
  vi.stubGlobal("requestIdleCallback", (callback: () => void) => waiting.push(callback));
  const drawn: string[] = [];
  const draw = (name: string) => inTurn(async () => drawn.push(name));
  const both = Promise.all([draw("first"), draw("second")]);
  await vi.waitFor(() => expect(waiting).toHaveLength(1));
  expect(drawn).toEqual([]);
  waiting.pop()?.();
  await vi.waitFor(() => expect(waiting).toHaveLength(1));
  expect(drawn).toEqual(["first"]);
  waiting.pop()?.();
  await both;
  expect(drawn).toEqual(["first", "second"]);
});

it("a chart that cannot be drawn keeps none of the others from it", async () => {
  const failed = inTurn(() => Promise.reject(new Error("no")));
  const next = inTurn(async () => "drawn");
  await expect(failed).rejects.toThrow("no");
  expect(await next).toBe("drawn");
});

it("a page that is complete when it has loaded draws its charts while images load, and not when the browser has time", async () => {
  const images: { onload?: () => void }[] = [];
  vi.stubGlobal("Image", function image(this: object) {
    images.push(this);
  });
  vi.stubGlobal("requestIdleCallback", () => {
    throw new Error("nobody may come back to it");
  });
  drawWhileLoading();
  const drawn: string[] = [];
  const both = Promise.all(["first", "second"].map((name) => inTurn(async () => drawn.push(name))));
  await vi.waitFor(() => expect(images).toHaveLength(1));
  expect(drawn).toEqual([]);
  images[0]?.onload?.();
  await vi.waitFor(() => expect(images).toHaveLength(2)); // the next image before the event can come
  expect(drawn).toEqual(["first"]);
  images[1]?.onload?.();
  await both;
  expect(drawn).toEqual(["first", "second"]);
});

it("figures are shown beside the mouse as text, and go with it", () => {
  const host = document.createElement("div");
  const show = tooltip(host);
  const over = (value: unknown) =>
    show({} as never, new MouseEvent("mousemove", { clientX: 10, clientY: 20 }), {} as never, value);
  over({ store: "<img src=x>", "median, seconds": "1.503214" });
  expect(host.textContent).toBe("store: <img src=x>median, seconds: 1.503214");
  expect(host.querySelector("img")).toBeNull();
  over({ store: "delta-rs reference", "interval from": "null" });
  expect(host.textContent).toBe("store: delta-rs reference");
  over(null);
  expect(host.textContent).toBe("");
});
