import { cleanup } from "@testing-library/react";
import { afterEach } from "vitest";

/** What each test file starts with: jsdom has no ResizeObserver, and what a test has rendered goes with it. */
globalThis.ResizeObserver = class {
  observe() {}
  unobserve() {}
  disconnect() {}
};
afterEach(cleanup);
