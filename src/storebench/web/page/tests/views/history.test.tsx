import { fireEvent, render, screen, waitFor } from "@testing-library/react";
import { MemoryRouter } from "react-router-dom";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { CellHistory } from "../../src/api/types";
import { toggled } from "../../src/model/choice";
import { HistoryChart, HistoryView } from "../../src/views/history/HistoryView";
import { historyLines, historyPoints, seriesShown } from "../../src/views/history/history";
import { ATTEMPT, BULK, NO_CHOICE, NOT_RUN, TOY, toy, unfold, WRITE } from "../data";

const CELL = toy("sum", 1).cell_key;
/** The history of attempts without a series. */
const NOTHING: CellHistory = {
  cell_key: CELL,
  operation: "sum",
  metrics: [],
  metric: "only_s",
  unit: "s",
  better: "lower",
  series: [],
  fewest: 10,
  method: "as asked",
};
let questions: URLSearchParams[];
let histories: URLSearchParams[];
let chosen: Record<string, string>;

beforeEach(() => {
  questions = [];
  histories = [];
  chosen = {};
  vi.stubGlobal("fetch", async ({ url: address }: Request) => {
    const { pathname, searchParams } = new URL(address);
    if (pathname.endsWith("/study")) return new Response(JSON.stringify(TOY));
    if (pathname.endsWith("/cell-keys")) return new Response(JSON.stringify([CELL]));
    if (pathname.endsWith("/history")) {
      histories.push(searchParams);
      return new Response(JSON.stringify(NOTHING));
    }
    questions.push(searchParams);
    const operation = searchParams.get("operation") ?? "";
    const items = [toy(operation, 3 * 2 ** 20, undefined, { warm_up: true }), toy(operation, 2 ** 20)];
    return new Response(JSON.stringify({ items, offset: 0, more: false }));
  });
});
afterEach(() => vi.unstubAllGlobals());

const show = (operation?: string, metric?: string) =>
  render(
    <HistoryView
      cell={CELL}
      operation={operation}
      metric={metric}
      choice={{ ...NO_CHOICE, choose: (changes) => Object.assign(chosen, changes) }}
    />,
  );
const title = () => screen.findByRole("heading");
const figures = () => {
  unfold();
  // the words of a single line, such as its unit, fold into a sentence
  const unit = / unit (\S+)/.exec(document.querySelector("details .sb-note")?.textContent ?? "")?.[1];
  return [...document.querySelectorAll("tbody tr")].map((line) => [line.children[1]?.textContent, unit]);
};

describe("a cell's history", () => {
  it("has all operations of its study, the first by itself, in what stands for it", async () => {
    show();
    expect((await title()).textContent).toBe(`Fill: sums a second of ${CELL}`);
    const menu = screen.getByLabelText("Operation");
    expect([...menu.querySelectorAll("option")].map((option) => option.textContent)).toEqual([
      "Fill",
      "Sum",
      "Shrink",
    ]);
    fireEvent.change(menu, { target: { value: "shrink" } });
    expect(chosen).toEqual({ operation: "shrink" });
    await waitFor(() => expect(document.querySelector("figure details")).not.toBeNull());
    expect(figures()).toEqual([["1,050,000 sums/s", "sums/s"]]);
  });

  it("is in the unit of its metric, without the warm-ups", async () => {
    show("shrink");
    expect((await title()).textContent).toContain("Shrink: space saved");
    expect(questions.at(-1)?.get("operation")).toBe("shrink");
    expect(figures()).toEqual([["1.05 MB", "bytes"]]);
  });

  it("can be of another metric; one that the study has not is none", async () => {
    const { unmount } = show("sum", "work_total_s");
    expect((await title()).textContent).toContain("Sum: total pod time without verification");
    expect(histories.at(-1)?.get("metric")).toBe("work_total_s");
    expect(figures()).toEqual([["2.00 s", "s"]]);
    unmount();
    show("sum", "only_s");
    expect((await title()).textContent).toContain("Sum: sums a second");
  });
});

const LARGER = {
  ...ATTEMPT,
  attempt_id: "larger",
  parameters_hash: "p2",
  parameters: { pod_cpu: "2", cpu_limit: false, pod_memory: "8Gi" },
};
const OLD = { ...ATTEMPT, attempt_id: "old", parameters_hash: null, parameters: null };

describe("what an attempt was measured with", () => {
  const points = (...attempts: (typeof ATTEMPT)[]) => historyPoints(BULK, attempts, "only_s");
  const measured = (...attempts: (typeof ATTEMPT)[]) => points(...attempts).map((point) => point.measured);

  it("tells other parameters apart, by what differs", () => {
    expect(measured(LARGER, ATTEMPT)).toEqual(["01234567 pod_cpu=500m", "01234567 pod_cpu=2"]);
    expect(measured(OLD, ATTEMPT)[1]).toBe("01234567 parameters unknown");
  });

  it("is the environment alone where all parameters are the same", () => {
    expect(measured(ATTEMPT, ATTEMPT)).toEqual(["01234567", "01234567"]);
    const notRun = { ...NOT_RUN, environment_hash: null, parameters_hash: null, parameters: null };
    expect(measured(notRun, ATTEMPT)).toEqual(["01234567", "unknown"]);
  });

  it("tells another method apart", () => {
    expect(measured({ ...ATTEMPT, method_version: 3 }, ATTEMPT)).toEqual([
      "01234567 method 2",
      "01234567 method 3",
    ]);
  });

  it("is with each figure, too", () => {
    expect(points(LARGER)[0]?.parameters).toBe("pod_cpu=2 cpu_limit=false pod_memory=8Gi");
  });

  it("has a colour for each set of parameters", () => {
    render(
      <HistoryChart
        attempts={[LARGER, ATTEMPT]}
        history={NOTHING}
        study={BULK}
        cell={ATTEMPT.cell_key}
        operation={WRITE}
        metric={undefined}
        choice={NO_CHOICE}
      />,
    );
    const entries = screen.getAllByRole("button", { pressed: true }).map((entry) => entry.textContent);
    expect(entries).toEqual(["01234567 pod_cpu=500m", "01234567 pod_cpu=2"]);
  });

  it("can be hidden, a comma in a parameter or not", () => {
    const odd = { ...LARGER, parameters: { ...LARGER.parameters, pod_cpu: "1,5" } };
    const asked = new URLSearchParams(toggled(new URLSearchParams(), "environment", "01234567 pod_cpu=1,5"));
    render(
      <HistoryChart
        attempts={[odd, ATTEMPT]}
        history={NOTHING}
        study={BULK}
        cell={ATTEMPT.cell_key}
        operation={WRITE}
        metric={undefined}
        choice={{ ...NO_CHOICE, asked }}
      />,
    );
    unfold();
    expect(document.querySelectorAll("tbody tr")).toHaveLength(1);
  });
});

describe("the changes of a history", () => {
  const figure = (run: string, hour: number, median: number) => ({
    run_id: run,
    at: `2026-11-22T${hour}:00:00Z`,
    attempts: 3,
    median,
  });
  const level = (first: [string, number], last: [string, number], median: number) => ({
    first: figure(...first, median),
    last: figure(...last, median),
    runs: 6,
    median,
  });
  const before = level(["bulk/one", 10], ["bulk/six", 12], 1);
  const after = level(["bulk/seven", 13], ["bulk/last", 15], 1.25);
  const SERIES = {
    environment_hash: "0123456789abcdef",
    parameters_hash: "p1",
    method_version: 2,
    runs: 12,
    levels: [before, after],
    changes: [{ before, after, ratio: 1.25, verdict: "worse" as const }],
    baselines: { nightly: figure("bulk/one", 10, 1) },
  };
  const shown = (history: Partial<CellHistory>, asked = new URLSearchParams()) =>
    render(
      <MemoryRouter>
        <HistoryChart
          attempts={[ATTEMPT, LARGER]}
          history={{ ...NOTHING, ...history }}
          study={BULK}
          cell={ATTEMPT.cell_key}
          operation={WRITE}
          metric={undefined}
          choice={{ ...NO_CHOICE, asked }}
        />
      </MemoryRouter>,
    );
  const changes = () => screen.queryByRole("region", { name: "Changes" });

  it("are told with the run at which each begins, and lead to a comparison", () => {
    shown({ series: [SERIES] });
    const [, line] = changes()?.querySelectorAll("tr") ?? [];
    expect([...(line?.querySelectorAll("td") ?? [])].slice(0, 6).map((one) => one.textContent)).toEqual([
      "bulk/seven",
      "2026-11-22 13:00",
      "1.00 s",
      "1.25 s",
      "slower, × 1.25",
      "01234567 pod_cpu=500m",
    ]);
    const link = new URL(screen.getByRole<HTMLAnchorElement>("link").href).searchParams;
    expect(Object.fromEntries(link)).toEqual({ view: "compare", before: "bulk/six", after: "bulk/seven" });
    expect(screen.getByRole("img").getAttribute("aria-label")).toContain("1 change.");
  });

  it("go with what is hidden", () => {
    const hidden = toggled(new URLSearchParams(), "environment", "01234567 pod_cpu=500m");
    shown({ series: [SERIES] }, new URLSearchParams(hidden));
    expect(changes()).toBeNull();
  });

  it("are drawn with levels and baselines, each in the colour of what was measured", () => {
    const [one] = seriesShown({ ...NOTHING, series: [SERIES] }, [ATTEMPT], () => true);
    expect(one && historyLines("s", [one])).toEqual({
      levels: [
        {
          since: before.first.at,
          until: before.last.at,
          at: 1,
          said: "6 runs alike, median 1.00 s",
          measured: "01234567",
        },
        {
          since: after.first.at,
          until: after.last.at,
          at: 1.25,
          said: "6 runs alike, median 1.25 s",
          measured: "01234567",
        },
      ],
      breaks: [{ since: after.first.at, said: "slower, × 1.25", measured: "01234567" }],
      baselines: [
        {
          since: before.first.at,
          until: after.last.at,
          at: 1,
          said: "baseline nightly: 1.00 s",
          measured: "01234567",
        },
      ],
    });
    const other = { ...SERIES, parameters_hash: "p9" };
    expect(seriesShown({ ...NOTHING, series: [other] }, [ATTEMPT], () => true)).toEqual([]);
  });

  it("have a reason where there are none", () => {
    const { unmount } = shown({ series: [{ ...SERIES, runs: 4, changes: [] }] });
    expect(screen.getByText(/No change/).parentElement?.textContent).toContain(
      "10 comparable runs, and there are 4",
    );
    unmount();
    shown({ series: [{ ...SERIES, changes: [] }] });
    expect(screen.getByText(/No change/).parentElement?.textContent).toBe(
      "No change is detected (as asked).",
    );
  });
});
