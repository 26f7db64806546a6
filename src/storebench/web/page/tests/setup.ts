import { cleanup } from "@testing-library/react";
import { afterEach } from "vitest";

/** Set up each test file: jsdom has no ResizeObserver, and the elements that a test renders are removed after it. */
globalThis.ResizeObserver = class {
  observe() {}
  unobserve() {}
  disconnect() {}
};
afterEach(cleanup);
