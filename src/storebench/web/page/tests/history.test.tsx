import { fireEvent, render, screen, waitFor } from "@testing-library/react";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { toggled } from "../src/choice";
import { HistoryChart, HistoryView } from "../src/HistoryView";
import { historyPoints } from "../src/history";
import { ATTEMPT, BULK, NO_CHOICE, NOT_RUN, TOY, toy, WRITE } from "./data";

const CELL = toy("sum", 1).cell_key;
let questions: URLSearchParams[];
let chosen: Record<string, string>;

beforeEach(() => {
  questions = [];
  chosen = {};
  vi.stubGlobal("fetch", async (address: string) => {
    const { pathname, searchParams } = new URL(address);
    if (pathname.endsWith("/study")) return new Response(JSON.stringify(TOY));
    if (pathname.endsWith("/cell-keys")) return new Response(JSON.stringify([CELL]));
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
const figures = () =>
  [...document.querySelectorAll("tbody tr")].map((line) =>
    [line.children[1], line.children[2]].map((one) => one?.textContent),
  );

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
    await waitFor(() => expect(figures()).toEqual([["1,048,576", "sums/s"]]));
  });

  it("is in the unit of its metric, without the warm-ups", async () => {
    show("shrink");
    expect((await title()).textContent).toContain("Shrink: space saved");
    expect(questions.at(-1)?.get("operation")).toBe("shrink");
    expect(figures()).toEqual([["1", "MiB"]]);
  });

  it("can be of another metric; one that the study has not is none", async () => {
    const { unmount } = show("sum", "total_s");
    expect((await title()).textContent).toContain("Sum: total pod time");
    expect(figures()).toEqual([["3", "seconds"]]);
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

  it("is with each figure, too", () => {
    expect(points(LARGER)[0]?.parameters).toBe("pod_cpu=2 cpu_limit=false pod_memory=8Gi");
  });

  it("has a colour for each set of parameters", () => {
    render(
      <HistoryChart
        attempts={[LARGER, ATTEMPT]}
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
        study={BULK}
        cell={ATTEMPT.cell_key}
        operation={WRITE}
        metric={undefined}
        choice={{ ...NO_CHOICE, asked }}
      />,
    );
    expect(document.querySelectorAll("tbody tr")).toHaveLength(1);
  });
});
