import { expect, it } from "vitest";
import { tooltip } from "../../src/charts/tooltip";

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
