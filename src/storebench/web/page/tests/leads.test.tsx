import { cleanup, fireEvent, render, screen, waitFor, within } from "@testing-library/react";
import { MemoryRouter, useSearchParams } from "react-router-dom";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { logLink } from "../src/api/airflow";
import type { CellPhases, Comparison, Verdict } from "../src/api/types";
import { Figures } from "../src/charts/Chart";
import { medianSpec } from "../src/charts/medians";
import { PhaseChart } from "../src/charts/PhaseCharts";
import { type Choice, changed } from "../src/model/choice";
import { chartData, figuresOf, linkTargetsIn } from "../src/model/figures";
import { toAttempts, toHistory, toNext } from "../src/model/lead";
import { LIGHT } from "../src/ui/theme";
import { AttemptView } from "../src/views/attempt/AttemptView";
import { Compared } from "../src/views/compare/CompareView";
import { TableView } from "../src/views/table/TableView";
import { ATTEMPT, BULK, CELL, FIGURES, NO_CHOICE, ORIGINS, RUN, TURN, UNITS, unfold, WRITE } from "./data";

let questions: URLSearchParams[];
const PHASES: CellPhases = {
  ...CELL,
  operation: "write",
  attempt: { ...ATTEMPT, try_number: 2 },
  phases: { connect: 0.5, operation: 1.5 },
};

beforeEach(() => {
  questions = [];
  vi.stubGlobal("fetch", async ({ url: address }: Request) => {
    const { pathname, searchParams } = new URL(address);
    const page = (items: unknown[]) => new Response(JSON.stringify({ items, offset: 0, more: false }));
    if (pathname.endsWith("/study")) return new Response(JSON.stringify(BULK));
    if (pathname.endsWith("/turns")) return page([TURN]);
    if (pathname.endsWith("/counters")) return page([]);
    if (pathname.endsWith("/profiles")) return new Response("[]");
    questions.push(searchParams);
    return page(pathname.endsWith("/phases") ? [PHASES] : [ATTEMPT]);
  });
});
afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

const at = (link: Element | null | undefined) =>
  Object.fromEntries(new URLSearchParams(link?.getAttribute("href")?.split("?")[1]));

let address: URLSearchParams;

function Page({ children }: { children: (choice: Choice & { asked: URLSearchParams }) => React.ReactNode }) {
  const [asked, setAsked] = useSearchParams();
  address = asked;
  return children({
    asked,
    choose: (changes) => setAsked((before) => changed(before, changes)),
    link: (changes) => `?${changed(asked, changes)}`,
  });
}

const show = (children: (choice: Choice & { asked: URLSearchParams }) => React.ReactNode, from = "/") =>
  render(
    <MemoryRouter initialEntries={[from]}>
      <Page>{children}</Page>
    </MemoryRouter>,
  );

describe("a line of the table", () => {
  it("leads to its phases, to its cell's history, and to its log in Airflow", async () => {
    show((choice) => <TableView run={RUN.id} {...choice} />, "/?view=table");
    await waitFor(() => expect(screen.getByRole("link", { name: "log" })).toBeTruthy());
    expect(at(screen.getByRole("link", { name: "phases" }))).toEqual({
      view: "phases",
      attempt: ATTEMPT.attempt_id,
      run: RUN.id,
    });
    expect(at(screen.getByRole("link", { name: "history" }))).toEqual({
      view: "history",
      cell: CELL.cell_key,
      operation: "write",
    });
    expect(screen.getByRole("link", { name: "log" }).getAttribute("href")).toMatch(
      /\/dags\/bulk_write_read\/runs\/one\/tasks\/cell\.write\/mapped\/0\?try_number=1$/,
    );
  });

  it("may be of one cell alone, until all are asked for", async () => {
    show((choice) => <TableView run={RUN.id} {...choice} />, `/?only=${encodeURIComponent(CELL.cell_key)}`);
    const all = await screen.findByRole("button", { name: "all cells" });
    expect(questions.at(-1)?.get("cell")).toBe(CELL.cell_key);
    fireEvent.click(all);
    await waitFor(() => expect(questions.at(-1)?.get("cell")).toBeNull());
    expect(address.get("only")).toBeNull();
  });
});

describe("an attempt", () => {
  it("is shown with its phases, and leads to its log, its cell and its history", async () => {
    show((choice) => <AttemptView run={RUN.id} attempt="a" choice={choice} />, "/?view=phases&attempt=a");
    const log = await screen.findByRole("link", { name: "its log in Airflow" });
    expect(log.getAttribute("href")).toMatch(/tasks\/cell\.write\/mapped\/0\?try_number=2$/);
    expect([questions[0]?.get("run"), questions[0]?.get("attempt")]).toEqual([RUN.id, "a"]);
    expect(screen.getByRole("heading", { name: "Write: where the time went" })).toBeTruthy();
    expect(at(screen.getByRole("link", { name: "the attempts of its cell" }))).toMatchObject({
      view: "table",
      only: CELL.cell_key,
    });
    expect(at(screen.getByRole("link", { name: "all cells of the run" }))).toEqual({ view: "phases" });
    expect(screen.getByText(/Write mongodb reference, batch 10,000, repeat 1, try 2/)).toBeTruthy();
  });

  it.each([
    ["of another repeat", { ...ATTEMPT, repeat: 7 }, [TURN]],
    ["that was never tried", { ...ATTEMPT, try_number: 0 }, [TURN]],
    ["of a turn that was excluded", ATTEMPT, [{ ...TURN, map_index: null }]],
  ])("%s has no log", (_, attempt, turns) => {
    expect(logLink(attempt, turns)).toBeNull();
  });

  it("of a warm-up has its own log", () => {
    const warm = { ...TURN, repeat: 0, warm_up: true, map_index: 3 };
    expect(logLink({ ...ATTEMPT, repeat: 0, warm_up: true }, [TURN, warm])).toMatch(/mapped\/3\?/);
  });
});

describe("a figure", () => {
  it("leads to the attempts that it is made of, and one of these to its phases", () => {
    expect(toNext({ cell_key: "c", operation: "write", run_id: "r" })).toMatchObject({
      view: "table",
      only: "c",
      operation: "write",
      run: "r",
    });
    expect(toNext(ATTEMPT)).toEqual({ view: "phases", attempt: "a", run: RUN.id });
    expect(toAttempts({ cell_key: "c", operation: "write" }).run).toBeUndefined();
    expect(toHistory(ATTEMPT, "work_total_s")).toEqual({
      view: "history",
      cell: CELL.cell_key,
      operation: "write",
      metric: "work_total_s",
    });
  });

  it("is a bar or a mark, and a line of the figures below", () => {
    const [figure] = figuresOf(BULK.metrics[0] as never);
    if (!figure) throw new Error("no figure");
    const data = chartData(BULK, [FIGURES], [WRITE], figure, { colour: "batch", panel: "operation" });
    expect(linkTargetsIn(data)).toEqual([{ cell_key: CELL.cell_key, operation: "write", run_id: RUN.id }]);
    const shown = { study: BULK, figure, scale: "linear" as const, colour: "batch", paint: () => "#000000" };
    const spec = medianSpec(data, { ...shown, description: "" }, 800, LIGHT) as unknown as {
      layer: { data: { values: { target?: { attempt_id?: string } }[] } }[];
    };
    const target = spec.layer.flatMap(({ data }) => data.values.map((one) => one.target?.attempt_id));
    expect(target).toContain("a");
    expect(target).toContain("b");
  });

  it("leads on where there is somewhere to go, and in a report nowhere", () => {
    const leads = { of: [ATTEMPT], to: toNext, what: "attempts" };
    show((choice) => <Figures table={[{ store: "mongodb" }]} caption="f" leads={{ ...leads, choice }} />);
    expect(at(screen.getByRole("link", { name: "attempts" })).attempt).toBe("a");
    cleanup();
    render(<Figures table={[{ store: "mongodb" }]} caption="f" leads={{ ...leads, choice: NO_CHOICE }} />);
    expect(screen.queryByRole("link")).toBeNull();
    expect(within(screen.getByRole("table")).queryByText("leads to")).toBeNull();
  });
});

describe("sorted by value", () => {
  const VERDICT = {
    ...CELL,
    ...ORIGINS,
    ...UNITS,
    operation: "write",
    remarks: [],
    verdict: "cannot tell",
    metric: "only_s",
    unit: "s",
    reason: null,
    ...{ n_before: 1, n_after: 1, median_before: 1, median_after: 1, mean_before: 1, mean_after: 1 },
    ...{ ratio: 1, ratio_low: null, ratio_high: null, p_adjusted: null },
  } as Verdict;
  const stores = [
    ["mongodb", 2],
    ["elasticsearch", null],
    ["delta-rs", 0.5],
  ] as const;
  const FOUND: Comparison = {
    before: [RUN],
    after: [RUN],
    ...{ units: "repeats", matched: false, running: [], metrics: [] },
    verdicts: stores.map(([store, ratio]) => ({ ...VERDICT, store, cell_key: store, ratio })),
    no_verdict: [],
    differences: [],
    test: "",
    margin_percent: 5,
    caution: null,
  };
  const order = () =>
    [...screen.getByLabelText("Verdicts").querySelectorAll("tbody th")].map(
      (one) => one.textContent?.split(" ")[0],
    );

  it("are the verdicts, what has no ratio last; and each leads to its cell", async () => {
    show((choice) => <Compared study={BULK} comparison={FOUND} metric={undefined} choice={choice} />);
    expect(order()).toEqual(["delta-rs", "mongodb", "elasticsearch"]);
    fireEvent.change(screen.getByRole("combobox", { name: "Order" }), { target: { value: "store" } });
    await waitFor(() => expect(order()).toEqual(["mongodb", "elasticsearch", "delta-rs"]));
    expect(at(screen.getByRole("link", { name: /^delta-rs/ }))).toMatchObject({
      view: "history",
      cell: "delta-rs",
    });
  });

  it("are the phases by the length of their bars", () => {
    const cells = [3, 1, 2].map((seconds) => ({
      ...PHASES,
      store: `s${seconds}`,
      cell_key: `${seconds}`,
      attempt: { ...ATTEMPT, store: `s${seconds}`, attempt_id: `${seconds}` },
      phases: { operation: seconds },
    }));
    show(
      (choice) => <PhaseChart study={BULK} cells={cells} operation={WRITE} choice={choice} single={false} />,
      "/?lines=value",
    );
    expect(document.querySelector("tbody tr")).toBeNull(); // what is folded is not made yet
    unfold();
    const lines = [...document.querySelectorAll("tbody tr")].map((one) => one.children[1]?.textContent);
    expect(lines).toEqual(["s1", "s2", "s3"]);
  });
});
