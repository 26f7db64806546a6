import { cleanup, fireEvent, render, screen, waitFor, within } from "@testing-library/react";
import { MemoryRouter } from "react-router-dom";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Draft, Form, FormField, StoreRecord } from "../../src/api/types";
import { Results } from "../../src/Results";
import { StartView } from "../../src/views/start/StartView";
import { TOY } from "../data";

const field = (name: string, title: string, changes: Partial<FormField> = {}): FormField => ({
  name,
  title,
  text: `Of the **${name}**.`,
  default: null,
  kind: "text",
  examples: [],
  ...changes,
});
const FORM: Form = {
  sections: [
    {
      title: "What is measured",
      fields: [
        field("stores", "Stores", {
          text: "The engines. [Their page](https://docs.example/stores) has **all**.",
          kind: "list",
          default: ["one", "two"],
          examples: ["one", "two", "two@v8"],
        }),
        field("rows", "Rows", { default: 20_000, examples: [1000] }),
      ],
    },
    { title: "Repeats", fields: [field("repeats", "Repeats", { default: 1, examples: [1, 3] })] },
    { title: "Precision", fields: [field("precision_percent", "Precision, %", { examples: [1] })] },
    {
      title: "Pods",
      fields: [field("cpu_limit", "CPU limit", { kind: "flag", default: false, examples: [true, false] })],
    },
  ],
  presets: [{ name: "small", description: "A first look.", params: { stores: ["one"], rows: 1000 } }],
  stores: [
    { ...(TOY.stores[0] as StoreRecord), name: "one", server: "redis", clients: ["direct"] },
    { ...(TOY.stores[0] as StoreRecord), name: "two", server: null, floor: false, clients: ["a", "b"] },
  ],
};
const NOTHING: Draft = {
  mistakes: [],
  cells: [],
  cells_total: 0,
  operations: 0,
  unknown: 0,
  expected_s: 0,
  expected_most_s: 0,
  may_end_earlier: false,
  dropped: 0,
  dropped_because: "",
  conf: {},
  may_start: true,
};
const CELLS = ["one reference", "two reference"].map((label) => ({
  key: `s/${label}`,
  label,
  repeats: 1,
  skipped: null,
}));

/** The answers of the API and of Airflow, and the requests that they received. */
let draft: Draft;
let refused: Response | null;
let posts: { path: string; body: Record<string, unknown> }[];
let asked: string[];
let chosen: Record<string, string>;

const json = (body: unknown, status = 200) => new Response(JSON.stringify(body), { status });

beforeEach(() => {
  draft = { ...NOTHING, cells: CELLS, cells_total: 2, operations: 4, expected_s: 90, expected_most_s: 90 };
  refused = null;
  posts = [];
  asked = [];
  chosen = {};
  vi.stubGlobal("fetch", async (request: Request) => {
    const { pathname, searchParams } = new URL(request.url);
    if (request.method === "POST") {
      if (refused) return refused;
      posts.push({ path: pathname, body: await request.json() });
      return json({ dag_run_id: "manual__1" });
    }
    if (pathname === "/api/v2/dags")
      return json({ dags: ["study", "other"].map((dag_id) => ({ dag_id, is_paused: dag_id === "other" })) });
    if (pathname.endsWith("/form")) return json(FORM);
    if (pathname.endsWith("/runs")) return json({ items: [], offset: 0, more: false, latest: null });
    const params = searchParams.get("params") ?? "{}";
    asked.push(params);
    const found = JSON.parse(params);
    if (found.rows === "-5" || found.cpu_limit === "maybe") {
      const name = found.rows === "-5" ? "rows" : "cpu_limit";
      return json({ ...NOTHING, mistakes: [{ parameter: name, text: `${name}: no number` }] });
    }
    return json({ ...draft, conf: found });
  });
});
afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

async function show(address = "", dagId?: string) {
  render(
    <MemoryRouter>
      <StartView
        dagId={dagId}
        asked={new URLSearchParams(address)}
        choose={(changes) => Object.assign(chosen, changes)}
      />
    </MemoryRouter>,
  );
  await screen.findByRole("button", { name: "Start the run" });
}
const start = () => screen.getByRole("button", { name: "Start the run" }) as HTMLButtonElement;
const type = (title: string, value: string) =>
  fireEvent.change(screen.getByLabelText(title, { selector: "input" }), { target: { value } });
const foreseen = () => screen.getByRole("status").textContent ?? "";

describe("what a run would do", () => {
  it("is there as it opens: cells, operations, and about how long", async () => {
    await show();
    expect(foreseen()).toBe("2 cells, 4 operations, about 2 min.");
    expect(asked).toEqual(["{}"]);
    const lines = within(screen.getByLabelText("The run's cells")).getAllByRole("row");
    expect(lines.map((line) => line.textContent)).toEqual([
      "cellrepeats",
      "one reference1",
      "two reference1",
    ]);
  });

  it("says what is a guess, a range, verified already, or excluded, and what may end it", async () => {
    draft = {
      ...draft,
      cells: [{ ...(CELLS[0] as (typeof CELLS)[0]), repeats: 0, skipped: "already verified" } as never],
      cells_total: 202,
      unknown: 1,
      expected_most_s: 600,
      may_end_earlier: true,
      dropped: 3,
      dropped_because: "one has no client 'tuned'",
    };
    await show();
    for (const text of [
      "202 cells, 4 operations, at least 2 min. For 1 of them, which are like none before",
      "It may end earlier",
      "1 of the cells listed below are verified already.",
    ])
      expect(foreseen()).toContain(text);
    expect(screen.getByText(/Up to 10 min if all of the time grows with the rows/)).toBeTruthy();
    const preview = screen.getByText("Preview of the grid: 202 cells, 3 combinations excluded");
    expect((preview.closest("details") as HTMLDetailsElement).open).toBe(false);
    expect(screen.getByText("3 combinations are excluded:")).toBeTruthy();
    expect(screen.getByText("one has no client 'tuned'")).toBeTruthy();
    expect(screen.getByText("And 201 others.")).toBeTruthy();
  });

  it("follows what is typed, and its start waits for that", async () => {
    await show();
    for (const text of ["1", "10", "100"]) type("Rows", text);
    expect(start().disabled).toBe(true);
    expect(chosen.conf).toBe('{"rows":"100"}');
    await waitFor(() => expect(start().disabled).toBe(false));
    expect(asked).toEqual(["{}", '{"rows":"100"}']);
  });

  it("is nothing where all is verified: then there is no start", async () => {
    draft = { ...draft, operations: 0 };
    await show();
    expect(foreseen()).toContain("there is nothing to do");
    expect(start().disabled).toBe(true);
  });
});

describe("a mistake", () => {
  it("stands at its field and beside the start, and goes when it is mended", async () => {
    await show();
    type("Rows", "-5");
    await waitFor(() => expect(foreseen()).toBe("This run would be refused:rows: no number"));
    const input = screen.getByLabelText("Rows");
    expect(input.getAttribute("aria-invalid")).toBe("true");
    const [problem] = (input.getAttribute("aria-describedby") ?? "").split(" ");
    expect(document.getElementById(problem as string)?.textContent).toBe("rows: no number");
    expect(start().disabled).toBe(true);
    type("Rows", "5");
    await waitFor(() => expect(foreseen()).toContain("2 cells"));
    expect(input.getAttribute("aria-invalid")).toBeNull();
  });

  it("opens the section that it is in, which stays open", async () => {
    await show('conf={"cpu_limit":"maybe"}');
    const section = () => screen.getByText(/^Pods: 1 changed/).closest("details") as HTMLDetailsElement;
    expect(section().textContent).toContain("with a mistake");
    expect(section().open).toBe(true);
    expect((screen.getByText("Precision").closest("details") as HTMLDetailsElement).open).toBe(false);
    fireEvent.change(screen.getByLabelText("CPU limit"), { target: { value: "true" } });
    await waitFor(() => expect(section().textContent).not.toContain("with a mistake"));
    expect(section().open).toBe(true);
  });
});

describe("the fields", () => {
  it("of a list are a text and a box for each value that is known", async () => {
    await show();
    const box = (name: string) => screen.getByRole("checkbox", { name }) as HTMLInputElement;
    expect([box("one").checked, box("two").checked, box("two@v8").checked]).toEqual([true, true, false]);
    fireEvent.click(box("two"));
    fireEvent.click(box("two@v8"));
    expect(chosen.conf).toBe('{"stores":"one, two@v8"}');
    type("Other stores", "three@x,");
    expect(screen.getByLabelText("Other stores")).toHaveProperty("value", "three@x,");
    expect(chosen.conf).toBe('{"stores":"one, two@v8, three@x"}');
    type("Other stores", "");
    fireEvent.click(box("two@v8"));
    fireEvent.click(box("one"));
    expect(chosen.conf, "none is the default").toBe("");
  });

  it("show each store once, with its kind, its clients and its servers", async () => {
    await show('conf={"stores":"two@v8"}');
    const cards = [...screen.getByRole("group", { name: "Stores" }).querySelectorAll(".sb-store-card")];
    expect(cards.map((card) => card.textContent)).toEqual([
      " oneserver redis · client direct",
      " twoengine in the pod · clients a, bservers that the run provisions v8",
    ]);
    expect(cards.map((card) => card.classList.contains("sb-chosen"))).toEqual([false, true]);
  });

  it("have a short help, whose links lead somewhere", async () => {
    await show();
    const group = within(screen.getByRole("group", { name: "Stores" }));
    expect(group.getByText("The engines.")).toBeTruthy();
    expect(group.getByText("more").closest("details")?.open).toBe(false);
    const link = group.getByRole("link", { name: "Their page" });
    expect(link.getAttribute("href")).toBe("https://docs.example/stores");
  });

  it("take a preset, say what it is, and are those of the address", async () => {
    await show();
    const preset = (name: RegExp) => screen.getByRole("button", { name }).getAttribute("aria-pressed");
    expect(preset(/^defaults/)).toBe("true");
    fireEvent.click(screen.getByRole("button", { name: /^small/ }));
    expect(preset(/^small/)).toBe("true");
    expect(screen.getByText("A first look.")).toBeTruthy();
    expect(JSON.parse(chosen.conf ?? "")).toEqual({ stores: "one", rows: "1000" });
    type("Rows", "5");
    expect([preset(/^small/), preset(/^defaults/)]).toEqual(["false", "false"]);
    cleanup();
    await show('conf={"cpu_limit":true}');
    expect(screen.getByLabelText("CPU limit")).toHaveProperty("value", "true");
  });

  it("are of the study that is chosen, or of the DAG that the page is on", async () => {
    await show("dag=other");
    expect(screen.getByText("This DAG is paused in Airflow.")).toBeTruthy();
    fireEvent.change(screen.getByLabelText("Study"), { target: { value: "study" } });
    expect(chosen).toEqual({ dag: "study", conf: "" });
    cleanup();
    await show("run=other/manual__1");
    expect(screen.getByLabelText("Study"), "of the run in the address").toHaveProperty("value", "other");
    cleanup();
    await show("run=latest");
    expect(screen.getByLabelText("Study")).toHaveProperty("value", "study");
    cleanup();
    await show("", "study");
    expect(screen.queryByLabelText("Study")).toBeNull();
    const link = screen.getByRole("link", { name: "its own form" });
    expect(link.getAttribute("href")).toMatch(/\/dags\/study$/);
  });
});

describe("the start", () => {
  it("sends what the draft is of, and leads to the run", async () => {
    await show('conf={"rows":"1000"}');
    fireEvent.click(start());
    const link = await screen.findByRole("link", { name: "Run" });
    expect(new URLSearchParams(link.getAttribute("href")?.split("?")[1]).get("run")).toBe("study/manual__1");
    const sent = { path: "/api/v2/dags/study/dagRuns", body: { logical_date: null, conf: { rows: "1000" } } };
    expect(posts).toEqual([sent]);
  });

  it("that Airflow refuses says why", async () => {
    refused = json({ detail: "Dag has import errors" }, 400);
    await show();
    fireEvent.click(start());
    expect((await screen.findByRole("alert")).textContent).toContain("Dag has import errors");
  });

  it("is not offered to whom Airflow would refuse it", async () => {
    draft = { ...draft, may_start: false };
    await show();
    expect(screen.getByRole("alert").textContent).toContain("You may not start runs of this DAG.");
    expect(start().disabled).toBe(true);
  });
});

it("is a view of the page, also before the first run", async () => {
  render(
    <MemoryRouter initialEntries={["/?view=start"]}>
      <Results dagId="study" />
    </MemoryRouter>,
  );
  await screen.findByText(/2 cells, 4 operations/);
  expect(screen.getByRole("link", { name: "Start" }).getAttribute("aria-current")).toBe("page");
});
