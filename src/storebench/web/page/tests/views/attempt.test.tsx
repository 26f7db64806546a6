import { cleanup, fireEvent, render, screen, within } from "@testing-library/react";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Attempt, CounterFigure, Profile } from "../../src/api/types";
import { AttemptView } from "../../src/views/attempt/AttemptView";
import { ATTEMPT, BULK, CELL, NO_CHOICE, RUN, TURN } from "../data";
import { DIVIDED, part, SERVER } from "../partsData";

let attempt: Attempt;
let asked: string[];
let counters: Record<string, CounterFigure>;
let profiles: Record<string, Profile>;

beforeEach(() => {
  asked = [];
  counters = {};
  profiles = {};
  vi.stubGlobal("fetch", async ({ url: address }: Request) => {
    const { pathname, search } = new URL(address);
    asked.push(`${pathname.split("/").at(-1)}${search}`);
    const page = (items: unknown[]) => new Response(JSON.stringify({ items, offset: 0, more: false }));
    if (pathname.endsWith("/study")) return new Response(JSON.stringify(BULK));
    if (pathname.endsWith("/turns")) return page([TURN]);
    if (pathname.endsWith("/pods"))
      return page([part(0), part(1), part(2, { waited_s: 0, client_bound: true }), SERVER]);
    if (pathname.endsWith("/profiles")) {
      const found = Object.keys(profiles).length ? [{ ...CELL, ...PROFILED, profiles }] : [];
      return new Response(JSON.stringify(found));
    }
    if (pathname.endsWith("/counters"))
      return page(Object.keys(counters).length ? [{ ...CELL, attempt_id: "a", counters }] : []);
    return page([{ ...CELL, operation: "write", attempt, phases: { connect: 0.5, operation: 1.5 } }]);
  });
});
afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

const PROFILED = { attempt_id: "a", run: RUN.id, operation: "write", repeat: 1, try_number: 1 };

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

const figure = (unit: string, before: number, after: number, kind = "counter"): CounterFigure => ({
  unit,
  kind,
  before,
  after,
  difference: after - before,
  unknown: null,
});

describe("the counters of an attempt's server", () => {
  it("are listed with their differences, and what the server does not say with its reason", async () => {
    attempt = ATTEMPT;
    const unknown = { unit: "", kind: "counter", before: null, after: null, difference: null };
    counters = {
      merges: figure("", 12, 14),
      merge_s: figure("s", 0.25, 1.5),
      store_bytes: figure("bytes", 3_000_000, 1_000_000, "gauge"),
      gc_s: { ...unknown, unknown: "Elasticsearch refused: no rights" },
      rejections: { ...unknown, unknown: "Elasticsearch refused: no rights" },
    };
    show();
    const card = await screen.findByRole("region", { name: "Counters" });
    const lines = within(card).getAllByRole("row").slice(1);
    expect(lines.map((line) => line.textContent)).toEqual([
      "mergescounter12142",
      "merge_scounter0.250 s1.50 s1.25 s",
      "store_bytesgauge3.00 MB1.00 MB-2.00 MB",
    ]);
    expect(card.textContent).toContain("No values of gc_s, rejections: Elasticsearch refused: no rights.");
    expect(asked.filter((path) => path.startsWith("counters"))).toEqual([
      `counters?run=${encodeURIComponent(RUN.id)}&attempt=a&limit=100&offset=0`,
    ]);
  });

  it("have no card without counters", async () => {
    attempt = ATTEMPT;
    show();
    await screen.findByRole("heading", { name: "Write: where the time went" });
    expect(screen.queryByText("Counters")).toBeNull();
  });
});

describe("the profile of an attempt", () => {
  const sampled = { sampler: "py-spy 0.4.3", hz: 100, samples: 10, dropped_samples: 1 };

  it("is a chart with its functions by their own samples, and says what is missing", async () => {
    attempt = ATTEMPT;
    profiles = {
      python: { ...sampled, unknown: null, folded: "main (a.py);send (b.py) 6\nmain (a.py) 3\n" },
      python_wall: { ...sampled, unknown: null, folded: "main (a.py) 20\n" },
      java: { ...sampled, samples: null, dropped_samples: null, folded: null, unknown: "no Java process" },
    };
    show();
    await screen.findByRole("img", { name: /^Flame graph of 9 samples/ });
    const card = screen.getByText("Profile of python").closest("figure") as HTMLElement;
    expect(card.textContent).toContain("sampled by py-spy 0.4.3, 100 times per second");
    expect(card.textContent).toContain("1 of 10 samples were of rare stacks");
    const figures = within(card).getByText("Figures").parentElement as HTMLDetailsElement;
    figures.open = true;
    fireEvent(figures, new Event("toggle"));
    const lines = within(card).getAllByRole("row").slice(1);
    expect(lines.map((line) => line.textContent)).toEqual([
      expect.stringMatching(/^send \(b\.py\)6/),
      expect.stringMatching(/^main \(a\.py\)3/),
    ]);
    expect(screen.getByText("No profile of java: no Java process.")).toBeTruthy();
    expect(card.textContent).toContain("Running threads");
    const wall = screen.getByText("Profile of python_wall").closest("figure") as HTMLElement;
    expect(wall.textContent).toContain("All threads, running or waiting");
  });

  it("has no place without a profile", async () => {
    attempt = ATTEMPT;
    show();
    await screen.findByRole("heading", { name: "Write: where the time went" });
    expect(screen.queryByText(/^Profile of/)).toBeNull();
  });
});
