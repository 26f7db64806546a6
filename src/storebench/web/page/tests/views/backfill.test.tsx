import { cleanup, fireEvent, render, screen, waitFor, within } from "@testing-library/react";
import { MemoryRouter } from "react-router-dom";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Grid, GridCell } from "../../src/api/types";
import { Results } from "../../src/Results";
import { typedOf } from "../../src/ui/Parameters";
import { BackfillView } from "../../src/views/backfill/BackfillView";

const cell = (key: string, changes: Partial<GridCell> = {}): GridCell => ({
  key,
  date: "2007-01-01T00:00:00Z",
  state: "missing",
  operations: 2,
  unknown: 0,
  expected_s: 60,
  expected_most_s: 60,
  refused: null,
  ...changes,
});
const [ONE, TWO, DONE, FAILED] = ["batch=1", "batch=2", "batch=3", "batch=4"].map(
  (batch) => `null/reference/${batch}`,
) as [string, string, string, string];
const CONF = { rows: 20_000, seed: 42, repeats: 1, skip_done: true };
const PARAMETERS = [
  { name: "rows", title: "Rows", text: "Of the **dataset**.", default: 20_000, main: true, examples: [1000] },
  { name: "pod_memory", title: "Memory of a pod", text: "", default: "8Gi", main: false, examples: ["2Gi"] },
  { name: "cpu_limit", title: "CPU limit", text: "", default: false, main: false, examples: [true, false] },
];

/** The answers of the API and of Airflow, and the requests that they received. */
let grid: Grid;
let active: { dag_run_id: string; partition_key: string | null; state: string; conf: unknown }[];
let dags: { dag_id: string; is_paused: boolean }[];
let refuse: (posts: number) => Response | null;
let posts: { path: string; body: Record<string, unknown> }[];
let asked: URLSearchParams[];
let chosen: Record<string, string>;

const json = (body: unknown, status = 200) => new Response(JSON.stringify(body), { status });

beforeEach(() => {
  grid = {
    cells: [
      cell(ONE),
      cell(TWO, { unknown: 2, expected_s: 30, expected_most_s: 300 }),
      cell(DONE, { state: "verified once", operations: 0, expected_s: 0, expected_most_s: 0 }),
      cell(FAILED, { state: "failed" }),
    ],
    conf: CONF,
    may_start: true,
  };
  active = [];
  dags = [{ dag_id: "study", is_paused: false }];
  refuse = () => null;
  posts = [];
  asked = [];
  chosen = {};
  vi.stubGlobal("fetch", async (request: Request) => {
    const { pathname, searchParams } = new URL(request.url);
    if (request.method === "POST") {
      const refused = refuse(posts.length);
      if (refused) return refused;
      posts.push({ path: pathname, body: await request.json() });
      return json({ dag_run_id: "cell__" });
    }
    if (pathname === "/api/v2/dags") return json({ dags });
    if (pathname.endsWith("/dagRuns")) return json({ dag_runs: active, total_entries: active.length });
    if (pathname.endsWith("/parameters")) return json(PARAMETERS);
    if (pathname.endsWith("/runs")) return json({ items: [], offset: 0, more: false, latest: null });
    asked.push(searchParams);
    const params = JSON.parse(searchParams.get("params") ?? "{}");
    if (params.rows === "-5") return json({ detail: "Rows: '-5' is not a whole number" }, 422);
    return json({ ...grid, conf: { ...grid.conf, ...params } });
  });
});
afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

async function show(address = "") {
  render(
    <MemoryRouter>
      <BackfillView
        asked={new URLSearchParams(address)}
        choose={(changes) => Object.assign(chosen, changes)}
      />
    </MemoryRouter>,
  );
  await screen.findByRole("button", { name: /Start/ });
}
const box = (key: string) =>
  screen.getByRole("checkbox", { name: `Measure ${key.replaceAll("/", " ")}` }) as HTMLInputElement;
const ticked = () => [ONE, TWO, DONE, FAILED].filter((key) => box(key).checked);
const start = () => screen.getByRole("button", { name: /Start/ }) as HTMLButtonElement;
const press = (name: string) => fireEvent.click(screen.getByRole("button", { name }));

describe("the grid", () => {
  it("has its cells with their dates and states, and nothing is chosen until somebody does", async () => {
    await show();
    expect(ticked()).toEqual([]);
    expect(start().disabled).toBe(true);
    expect(screen.getByText(/3 of 4 cells are to be measured/).textContent).toContain("None is chosen.");
    press("choose all missing cells");
    expect(ticked()).toEqual([ONE, TWO, FAILED]);
    expect(box(DONE).disabled).toBe(true);
    const line = box(DONE).closest("tr") as HTMLElement;
    expect(line.textContent).toBe("batch=32007-01-01T00:00:00verified once––");
    expect(screen.getByText(/3 of 4 cells are to be measured/).textContent).toContain(
      "Chosen: 3 cells with 6 operations, at least 3 min. For 2 of them, which are like none before",
    );
  });

  it("folds what all cells share into a sentence", async () => {
    await show();
    expect(screen.getByText("Equal in all cells: null reference")).toBeTruthy();
    cleanup();
    grid.cells = [cell(ONE), cell(TWO, { state: "failed" })];
    await show();
    expect(
      screen.getByText("Equal in all cells: null reference · operations 2 · time about 1 min"),
    ).toBeTruthy();
    const headings = screen.getAllByRole("columnheader").map((heading) => heading.textContent);
    expect(headings).toEqual(["measure", "cell", "date, UTC", "state"]);
  });

  it("has the button beside the amount of work, in a step that stays in sight", async () => {
    await show();
    const steps = screen.getAllByRole("heading", { level: 3 }).map((heading) => heading.textContent);
    expect(steps).toEqual(["1. How much", "2. Cells", "3. Go"]);
    const go = start().closest(".sb-go") as HTMLElement;
    expect(go.textContent).toContain("3 of 4 cells are to be measured.");
  });

  it("says that all of it is verified", async () => {
    grid.cells = [cell(DONE, { state: "verified once", operations: 0 })];
    await show();
    expect(screen.getByText(/The cell is verified/)).toBeTruthy();
    expect(start().disabled).toBe(true);
  });

  it("shows what is under way, and does not choose it again", async () => {
    active = [
      { dag_run_id: "cell__1", partition_key: ONE, state: "running", conf: CONF },
      { dag_run_id: "backfill__2", partition_key: TWO, state: "queued", conf: { rows: 20_000 } },
      { dag_run_id: "cell__4", partition_key: FAILED, state: "queued", conf: { ...CONF, rows: 5 } },
    ];
    await show();
    await screen.findByRole("link", { name: "running" });
    press("choose all missing cells");
    expect(ticked()).toEqual([FAILED]);
    const link = within(box(ONE).closest("tr") as HTMLElement).getByRole("link", { name: "running" });
    expect(link.getAttribute("href")).toContain("/dags/study/runs/cell__1");
  });

  it("says in the cell that asked why its run was refused, until another run of it goes on", async () => {
    grid.cells = [cell(ONE, { refused: "mongodb was not built yet" }), cell(TWO)];
    await show();
    const line = () => (box(ONE).closest("tr") as HTMLElement).textContent;
    expect(line()).toContain("missing, refused mongodb was not built yet");
    press("choose all missing cells");
    expect(box(ONE).checked).toBe(true);
    cleanup();
    active = [{ dag_run_id: "cell__1", partition_key: ONE, state: "running", conf: CONF }];
    await show();
    await waitFor(() => expect(line()).toContain("missing, running"));
    expect(line()).not.toContain("refused");
  });

  it("is of the study that is chosen, and says that its DAG is paused", async () => {
    dags = [...dags, { dag_id: "other", is_paused: true }];
    await show("dag=other");
    expect(asked[0]?.get("dag")).toBe("other");
    expect(screen.getByText("This DAG is paused in Airflow.")).toBeTruthy();
    fireEvent.change(screen.getByLabelText("Study"), { target: { value: "study" } });
    expect(chosen).toEqual({ dag: "study", params: "" });
  });
});

describe("the start", () => {
  it("makes a run of each chosen cell's partition, with the parameters, and of no other", async () => {
    await show();
    press("choose all missing cells");
    press("choose none");
    expect(start().disabled).toBe(true);
    for (const key of [TWO, FAILED]) fireEvent.click(box(key));
    fireEvent.click(start());
    await screen.findByText("2 runs started.");
    expect(posts.map(({ path }) => path)).toEqual(Array(2).fill("/api/v2/dags/study/dagRuns"));
    expect(posts.map(({ body }) => body.partition_key)).toEqual([TWO, FAILED]);
    for (const { body } of posts) {
      expect(body.conf).toEqual(CONF);
      expect(body.logical_date).toBeNull();
    }
    expect(posts[0]?.body.dag_run_id).toMatch(/^cell__null_reference_batch_2__[0-9T:.Z-]+$/);
    expect(screen.getByRole("link", { name: "Airflow lists the runs" }).getAttribute("href")).toContain(
      "/dags/study/runs",
    );
    expect(ticked()).toEqual([]);
  });

  it("that is refused in the middle says so, and keeps the others chosen", async () => {
    refuse = (posts) => (posts ? json({ detail: "Dag has import errors" }, 400) : null);
    await show();
    press("choose all missing cells");
    fireEvent.click(start());
    await screen.findByText("1 run started.");
    const line = (key: string) => box(key).closest("tr") as HTMLElement;
    expect(within(line(TWO)).getByRole("alert").textContent).toBe("Dag has import errors");
    expect(within(line(FAILED)).queryByRole("alert")).toBeNull();
    expect(screen.getByText("Airflow did not start the other cells.")).toBeTruthy();
    expect(ticked()).toEqual([TWO, FAILED]);
  });

  it("without permission says whom to ask", async () => {
    refuse = () => json({ detail: "Forbidden" }, 403);
    await show();
    press("choose all missing cells");
    fireEvent.click(start());
    expect(
      (await screen.findByText("You may not start runs of this DAG.")).closest("[role=alert]"),
    ).toBeTruthy();
    expect(posts).toEqual([]);
  });

  it("is not offered to whom Airflow would refuse it", async () => {
    grid.may_start = false;
    await show();
    expect(start().disabled).toBe(true);
    expect(screen.getByRole("alert").textContent).toContain("Ask the administrator of this Airflow");
  });
});

describe("the parameters", () => {
  const type = (text: string) => fireEvent.change(screen.getByLabelText("Rows"), { target: { value: text } });

  it("that are typed are those that the cells are looked up with, and that are sent", async () => {
    await show();
    expect(screen.getByLabelText("Rows").getAttribute("placeholder")).toBe("20000");
    press("choose all missing cells");
    for (const text of ["1", "10", "1000"]) type(text);
    expect(start().disabled).toBe(true);
    expect(JSON.parse(chosen.params ?? "")).toEqual({ rows: "1000" });
    await waitFor(() => expect(asked.at(-1)?.get("params")).toBe('{"rows":"1000"}'));
    await waitFor(() => expect(start().disabled).toBe(false));
    expect(asked).toHaveLength(2);
    fireEvent.click(start());
    await screen.findByText("3 runs started.");
    expect(posts[0]?.body.conf).toEqual({ ...CONF, rows: "1000" });
  });

  it("are those of the address", async () => {
    await show('params={"pod_memory":"2Gi","cpu_limit":true}');
    expect(screen.getByLabelText("Memory of a pod")).toHaveProperty("value", "2Gi");
    expect(screen.getByLabelText("CPU limit")).toHaveProperty("value", "true");
    expect(screen.getByText("More parameters").closest("details")?.open).toBe(true);
    expect(asked[0]?.get("params")).toBe('{"pod_memory":"2Gi","cpu_limit":"true"}');
    fireEvent.change(screen.getByLabelText("CPU limit"), { target: { value: "" } });
    fireEvent.change(screen.getByLabelText("Memory of a pod"), { target: { value: "" } });
    expect(chosen.params).toBe("");
    expect([typedOf("{"), typedOf("null")]).toEqual([{}, {}]);
  });

  it("that cannot be meant are refused, and can be typed again", async () => {
    await show();
    type("-5");
    expect((await screen.findByRole("alert")).textContent).toContain("Rows: '-5' is not a whole number.");
    expect(screen.queryByRole("button", { name: /Start/ })).toBeNull();
    type("5");
    await screen.findByRole("button", { name: /Start/ });
  });
});

it("before the first run the grid is there, and every other view says how to get results", async () => {
  const page = (view: string) =>
    render(
      <MemoryRouter initialEntries={[`/?view=${view}`]}>
        <Results dagId="study" />
      </MemoryRouter>,
    );
  page("backfill");
  await screen.findByText(/3 of 4 cells are to be measured/);
  expect(screen.queryByText("No results yet.")).toBeNull();
  cleanup();
  page("charts");
  await screen.findByText("No results yet.");
});
