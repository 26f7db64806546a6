/** Claims of a study, as the API judges them. */
import type { Claims } from "../src/api/types";

export const NO_CLAIMS: Claims = { study: "bulk_write_read", rules: "the whole interval", claims: [] };
const CASE: Claims["claims"][number]["cases"][number] = {
  ratio_of: "time: elasticsearch / mongodb",
  case: "",
  verdict: "refuted",
  reason: null,
  ratio: 1.071,
  ratio_low: 0.963,
  ratio_high: 1.201,
  ...{ a: "mongodb", b: "elasticsearch", median_before: 1.5, median_after: 1.6 },
  ...{ units: "rounds", matched: true, units_before: 6, units_after: 6 },
  rows: 100000,
  runs: ["bulk_write_read/manual__1"],
  remarks: ["A: 6 of 6 client-bound"],
};
const CLAIM: Claims["claims"][number] = {
  text: "Elasticsearch reads twice as fast",
  ...{ expected_ratio: "0.4 to 0.6", at_least: 0.4, at_most: 0.6 },
  metric: "only_s",
  verdict: "refuted",
  reason: null,
  note: "",
  cases: [CASE],
};
const NOT_MEASURED = {
  reason: "A not measured",
  ratio: null,
  ratio_low: null,
  ratio_high: null,
  ...{ median_before: null, median_after: null, units_before: null, units_after: null },
  rows: null,
  runs: [],
};
/** Three claims: with one case, with two cases of which one was measured, and with no testable case. */
export const CLAIMS: Claims = {
  ...NO_CLAIMS,
  claims: [
    CLAIM,
    {
      ...CLAIM,
      text: "Larger batches are faster",
      expected_ratio: "at most 1",
      verdict: "cannot tell",
      reason: "of 2 cases 1 confirmed, 1 cannot tell",
      note: "in batches",
      cases: [
        {
          ...CASE,
          case: "executors=1",
          verdict: "confirmed",
          ratio: 0.5,
          ratio_low: 0.4,
          ratio_high: 0.6,
          remarks: [],
        },
        { ...CASE, ...NOT_MEASURED, case: "executors=2", verdict: "cannot tell", remarks: [] },
      ],
    },
    {
      ...CLAIM,
      text: "It was seen",
      expected_ratio: "",
      verdict: "cannot tell",
      reason: "a picture",
      cases: [],
    },
  ],
};
