import { afterEach, expect, it, vi } from "vitest";
import { inTurn } from "../src/drawing";

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
