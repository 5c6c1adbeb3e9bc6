import type { TestOptions } from "../../../services/edge/testing/test-edge.ts";

export type Case = {
  /** Name of the golden file. */
  readonly name: string;
  readonly method: "GET" | "POST" | "PATCH" | "DELETE";
  readonly url: string;
  readonly body?: unknown;
  /** The answers of the services. */
  readonly answers: TestOptions;
};
