import { expect, it } from "vitest";
import type { Metric } from "../../src/api/types";
import { chosenMetric, metricsOf, rankKey } from "../../src/model/ranking";
import { BULK } from "../data";
import { RANKING } from "../rankingData";

it("a metric that some attempts report can rank, and resets the axes, because it has values of its own there", () => {
  const metric = { ...BULK.metrics[0], name: "again_s" } as Metric;
  const table = { title: "Stops", axis: "batch", metrics: ["again_s"], operations: ["write"] };
  const study = { ...BULK, metrics: [...BULK.metrics, metric], tables: [table] };
  expect(metricsOf(study, "write").map(({ name }) => name)).toContain("again_s");
  expect(metricsOf(study, "read").map(({ name }) => name)).not.toContain("again_s");
  const ranking = { ...RANKING, axes: { batch: "10" } };
  const axis = rankKey("axis:batch");
  expect(chosenMetric(study, ranking, "again_s")).toEqual({ [rankKey("metric")]: "again_s", [axis]: "" });
  expect(chosenMetric(study, ranking, "rows_per_s")).toEqual({ [rankKey("metric")]: "rows_per_s" });
});
