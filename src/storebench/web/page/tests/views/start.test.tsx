import { cleanup, fireEvent, render, screen, waitFor, within } from "@testing-library/react";
import { MemoryRouter } from "react-router-dom";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Draft, Form, FormField } from "../../src/api/types";
import { Results } from "../../src/Results";
import { StartView } from "../../src/views/start/StartView";

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
          kind: "list",
          default: ["one", "two"],
          examples: ["one", "two", "two@v8"],
        }),
        field("rows", "Rows", { default: 20_000, examples: [1000] }),
      ],
    },
    { title: "Repeats", fields: [field("repeats", "Repeats", { default: 1, examples: [1, 3] })] },
    {
      title: "Pods",
      fields: [field("cpu_limit", "CPU limit", { kind: "flag", default: false, examples: [true, false] })],
    },
  ],
  presets: [{ name: "small", description: "A first look.", params: { stores: ["one"], rows: 1000 } }],
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
    if (found.rows === "-5" || found.repeats === "0") {
      const name = found.rows === "-5" ? "rows" : "repeats";
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
    expect(foreseen()).toBe("2 cells, 4 operations, about 1 min 30 s.");
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
      "202 cells, 4 operations, about 1 min 30 s to 10 min 0 s. For 1 of them, which are like none before",
      "It may end earlier",
      "1 of the cells listed below are verified already.",
      "3 combinations are excluded: one has no client 'tuned'.",
    ])
      expect(foreseen()).toContain(text);
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
    await show('conf={"repeats":"0"}');
    const section = () => screen.getByText(/^Repeats: 1 changed/).closest("details") as HTMLDetailsElement;
    expect(section().textContent).toContain("with a mistake");
    expect(section().open).toBe(true);
    expect((screen.getByText("Pods").closest("details") as HTMLDetailsElement).open).toBe(false);
    type("Repeats", "3");
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
    expect(screen.getByLabelText("Stores")).toHaveProperty("value", "one, two@v8");
    type("Stores", "two");
    expect([box("one").checked, box("two").checked]).toEqual([false, true]);
    expect(chosen.conf).toBe('{"stores":"two"}');
    fireEvent.click(box("two"));
    expect(chosen.conf, "none is the default").toBe("");
  });

  it("take a preset, say what it is, and are those of the address", async () => {
    await show();
    fireEvent.change(screen.getByLabelText("Preset"), { target: { value: "small" } });
    expect(screen.getByText("A first look.")).toBeTruthy();
    expect(JSON.parse(chosen.conf ?? "")).toEqual({ stores: "one", rows: "1000" });
    type("Rows", "5");
    expect(screen.getByLabelText("Preset")).toHaveProperty("value", "");
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
