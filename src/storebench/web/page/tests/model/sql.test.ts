import { expect, it } from "vitest";
import { sqlBeside, sqlOf, sqlOfGrid, sqlOfRanking } from "../../src/model/sql";
import { BULK, CELL, TOY, toy } from "../data";

it("a chart's question is of its study's view, its run and its operations", () => {
  expect(
    sqlOf({ study: BULK, cells: [CELL], runs: ["s/it's"], operations: ["write"], metrics: ["only_s"] }),
  ).toBe(
    [
      `SELECT store, client, "batch", "rows", "seed", operation, repeat, status, disturbed, "only_s", run_id, server_name, server_version, durability, code_version, recorded_at, (SELECT concat_ws(', ', e.details ->> 'cpus', e.details ->> 'cpu_model', e.details ->> 'memory_gib')`,
      "  FROM storebench.environment AS e WHERE e.hash = environment_hash) AS machine_cpus_model_gib",
      "FROM storebench.bulk_write_read",
      "WHERE run_id IN ('s/it''s') AND operation IN ('write') AND NOT warm_up",
      "ORDER BY store, client, cell_key, operation, repeat;",
      "",
    ].join("\n"),
  );
});

it("a history's is of a cell in all runs, with all that it has and what it was measured with", () => {
  const text = sqlOf({ study: { ...BULK, dataset: null }, cells: [], cell: CELL.cell_key });
  expect(text).toContain(
    "repeat, status, disturbed, environment_hash, parameters_hash, metric, value, unit, metrics, run_id",
  );
  expect(text).toContain(`WHERE cell_key = '${CELL.cell_key}' AND NOT warm_up`);
});

it("that of a histogram is of what is beside the attempts", () => {
  const text = sqlBeside("artifact", { study: TOY, cells: [toy("sum", 1)], runs: ["toy/one"] }, [
    "latency_s",
    "done_bytes",
  ]);
  expect(text).toContain('client, "codec", "level", "rows", "seed", operation');
  expect(text).toContain("FROM storebench.toy JOIN storebench.artifact USING (attempt_id)");
  expect(text).toContain("AND name IN ('latency_s', 'done_bytes')");
});

it("a grid's is of its dataset, whose parameters are numbers whatever they are called", () => {
  expect(sqlOfGrid("it's", { rows: 20_000, seed: "7" })).toContain(
    "WHERE study = 'it''s' AND rows = 20000 AND seed = 7\n",
  );
});

it("the question to the database names each cell in its own environment", () => {
  const text = sqlOfRanking("bulk_write_read", "write", "only_s", [
    { cell_key: "a'b", environment_hash: "e1", parameters_hash: null },
    { cell_key: "c", environment_hash: null, parameters_hash: null },
  ]);
  expect(text).toContain("IN (('a''b', 'e1', ''))");
  expect(text).toContain('percentile_cont(0.5) WITHIN GROUP (ORDER BY "only_s") AS median');
});
