import { cleanup, render, screen } from "@testing-library/react";
import { afterEach, expect, it, vi } from "vitest";
import type { Claims } from "../../src/api/types";
import { ClaimsOf, ClaimTable, measuredIn } from "../../src/views/ranking/Claims";
import { CLAIMS, NO_CLAIMS } from "../claimsData";

afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

const lines = () =>
  [...screen.getByRole("region", { name: "Claims" }).querySelectorAll("tbody tr")].map((line) =>
    [...line.children].map((field) => field.textContent),
  );

it("a claim has its verdict, ratio, interval, number of rounds and run beside it", async () => {
  const asked: string[] = [];
  vi.stubGlobal("fetch", async ({ url: address }: Request) => {
    asked.push(address);
    return new Response(JSON.stringify(CLAIMS));
  });
  render(<ClaimsOf study="bulk_write_read" />);
  expect(await screen.findByText("3 claims: 0 confirmed, 1 refuted, 2 cannot tell")).toBeTruthy();
  expect(new URL(String(asked[0])).search).toBe("?study=bulk_write_read");
  const of = "time: elasticsearch / mongodb";
  expect(lines()).toEqual([
    [
      "Elasticsearch reads twice as fastmeans a ratio of 0.4 to 0.6",
      "refuted",
      of,
      "1.07",
      "0.963 to 1.2",
      "6 rounds",
      "manual__1 (100,000 rows)",
      "A: 6 of 6 client-bound",
    ],
    [
      "Larger batches are fastermeans a ratio of at most 1",
      "cannot tellof 2 cases 1 confirmed, 1 cannot tell",
      "–",
      "–",
      "–",
      "–",
      "–",
      "in batches",
    ],
    ["", "confirmed", `executors=1${of}`, "0.5", "0.4 to 0.6", "6 rounds", "manual__1 (100,000 rows)", "–"],
    ["", "cannot tellA not measured", `executors=2${of}`, "–", "–", "–", "–", "–"],
    ["It was seen", "cannot tella picture", "–", "–", "–", "–", "–", "–"],
  ]);
});

it("a long reason and long limits open on a click", () => {
  const [claim] = CLAIMS.claims as [Claims["claims"][number]];
  const long = "too few rounds to tell the sides apart, and the client was the limit of most of them";
  render(<ClaimTable answer={{ ...CLAIMS, claims: [{ ...claim, reason: long, note: long }] }} />);
  for (const [summary, text] of [
    ["why", long],
    ["limits", `${long}; A: 6 of 6 client-bound`],
  ] as const) {
    const details = screen.getByText(summary, { selector: "summary" }).parentElement as HTMLDetailsElement;
    expect([details.open, details.textContent]).toEqual([false, `${summary}${text}`]);
  }
});

it("a study without claims has no table of them", () => {
  const { container } = render(<ClaimTable answer={NO_CLAIMS} />);
  expect(container.textContent).toBe("");
});

it("a run shows the claims that it has figures for", () => {
  const found = measuredIn(CLAIMS).claims;
  expect(found.map(({ text, cases }) => [text, cases.length])).toEqual([
    ["Elasticsearch reads twice as fast", 1],
    ["Larger batches are faster", 1],
  ]);
});
