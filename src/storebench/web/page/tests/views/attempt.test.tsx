import { cleanup, render, screen, within } from "@testing-library/react";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Attempt } from "../../src/api/types";
import { AttemptView } from "../../src/views/attempt/AttemptView";
import { ATTEMPT, BULK, CELL, NO_CHOICE, RUN, TURN } from "../data";
import { DIVIDED, part, SERVER } from "../partsData";

let attempt: Attempt;
let asked: string[];

beforeEach(() => {
  asked = [];
  vi.stubGlobal("fetch", async ({ url: address }: Request) => {
    const { pathname, search } = new URL(address);
    asked.push(`${pathname.split("/").at(-1)}${search}`);
    const page = (items: unknown[]) => new Response(JSON.stringify({ items, offset: 0, more: false }));
    if (pathname.endsWith("/study")) return new Response(JSON.stringify(BULK));
    if (pathname.endsWith("/turns")) return page([TURN]);
    if (pathname.endsWith("/pods"))
      return page([part(0), part(1), part(2, { waited_s: 0, client_bound: true }), SERVER]);
    return page([{ ...CELL, operation: "write", attempt, phases: { connect: 0.5, operation: 1.5 } }]);
  });
});
afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

const show = () => render(<AttemptView run={RUN.id} attempt="a" choice={NO_CHOICE} />);

describe("an attempt of several pods", () => {
  it("lists its parts: the leader first, no server, and the part that was slow or bound in words", async () => {
    attempt = DIVIDED;
    show();
    const card = await screen.findByRole("region", { name: "Parts" });
    expect(card.textContent).toContain("3 pods did the operation together. They began at most 1.32 ms apart");
    const lines = within(card).getAllByRole("row").slice(1);
    expect(lines.map((line) => line.textContent)).toEqual([
      expect.stringMatching(/^0, leaderbulk-write-9f3c-0node0–/),
      expect.stringMatching(/^1bulk-write-9f3c-1node1–100 µs100 ms0\.50 of 1151 MB2\.50 s$/),
      expect.stringMatching(/^2bulk-write-9f3c-2node2client-bound, began last of the followers, ended last/),
    ]);
    expect(lines[2]?.className).toBe("sb-client-bound");
    expect(asked.filter((path) => path.startsWith("pods"))).toEqual([
      `pods?run=${encodeURIComponent(RUN.id)}&attempt=a&limit=500&offset=0`,
    ]);
  });

  it("is not asked for of an attempt of one pod", async () => {
    attempt = { ...ATTEMPT, client_pods: 1 };
    show();
    await screen.findByRole("heading", { name: "Write: where the time went" });
    expect(screen.queryByText("Parts")).toBeNull();
    expect(asked.some((path) => path.startsWith("pods"))).toBe(false);
  });
});
