import * as vega from "vega";
import { compile } from "vega-lite";
import { expect, it } from "vitest";
import type { CellArtifacts, CellFigures, Metric, Study } from "../../src/api/types";
import { aroundCurves } from "../../src/charts/CurveCharts";
import { curvePanels, curveSpec } from "../../src/charts/curves";
import { chartsOf, limitsOf, metricNamed } from "../../src/model/study";
import { painter } from "../../src/ui/colours";
import { LIGHT } from "../../src/ui/theme";
import LOAD from "../load.json";

// written and checked by tests/unit/answers/test_load_answer.py
const { study, cells, artifacts } = LOAD as unknown as {
  study: Study;
  cells: CellFigures[];
  artifacts: CellArtifacts[];
};

/** Draw the study's chart of a metric from the API's answer. */
function drawn(name: string): Promise<string> {
  const chart = chartsOf(study).find(({ metric }) => metric === name);
  const metric = metricNamed(study, name) as Metric;
  if (!chart) throw new Error(name);
  const [panel] = curvePanels(study, artifacts, study.operations, metric, chart);
  const paint = painter(study, artifacts, chart.colour);
  const around = aroundCurves(study, chart, cells, artifacts);
  const shown = { metric, scale: "linear" as const, colour: chart.colour, paint, description: name };
  const spec = curveSpec(study, panel?.curves ?? [], { ...shown, ...around }, 800, LIGHT, false);
  return new vega.View(vega.parse(compile(spec).spec), { renderer: "none" }).toSVG();
}

it("an answer of the API has the limit, the warm-up, the fault and the users of a series", async () => {
  const svg = await drawn("each_second_p99_s");
  expect(svg).toContain(">Limit of the latency: 50.0 ms<");
  expect(svg).toContain(">◂ end of the warm-up<");
  expect(svg).toContain(">users in each second (dotted)<");
  expect(svg).toContain(">fault ▸<");
});

it("percentiles have the limit, and neither a warm-up nor users", async () => {
  const svg = await drawn("latency_s");
  expect(svg).toContain(">Limit of the latency: 50.0 ms<");
  expect(svg).not.toMatch(/warm-up|users|fault/);
});

it("a limit with the value that earlier results imply is not recorded with an attempt, and is a limit", () => {
  const attempts = cells.flatMap((cell) => cell.attempts);
  expect(attempts[0]?.parameters).not.toHaveProperty("slo_ms");
  expect(limitsOf(study, "slo_ms", attempts)).toEqual([{ title: "Limit of the latency", value: 0.05 }]);
  const others = attempts.map((attempt) => ({ ...attempt, parameters: { slo_ms: 200 } }));
  expect(limitsOf(study, "slo_ms", others)[0]?.value).toBe(0.2);
  expect(
    limitsOf(
      study,
      "slo_ms",
      attempts.map((attempt) => ({ ...attempt, parameters: null })),
    ),
  ).toEqual([]);
});
