// @vitest-environment happy-dom
import { render } from "preact";
import { afterEach, expect, test } from "vitest";
import { NoAnswerError, ProblemError } from "../../client/index.ts";
import { ProblemView } from "./problem-view.tsx";

const PROBLEM = {
  type: "/docs/problems/safety_stop",
  title: "Stopped",
  status: 503,
  detail: "The Master is stopped <b>now</b>.",
  instance: "/api/v1/investor/withdraw",
  code: "safety_stop",
  request_id: "request-1",
  retryable: false,
  outcome: "not_executed",
} as unknown as ProblemError["problem"];

afterEach(() => render(null, document.body));

function shown(problem: unknown): HTMLElement {
  render(<ProblemView problem={problem} />, document.body);
  return document.body;
}

test("a problem is shown in its own words, with its code, its page and the request", () => {
  const body = shown(new ProblemError(PROBLEM));
  expect(body.textContent).toContain("The Master is stopped <b>now</b>.");
  expect(body.textContent).toContain("Nothing was executed.");
  expect(body.textContent).toContain("request-1");
  expect(body.querySelector("a")?.getAttribute("href")).toBe("/docs/problems/safety_stop");
  expect(body.querySelector("b")).toBeNull();
});

test.each(["https://elsewhere.example/docs/problems/x", "javascript:alert(1)", "/console"])(
  "a page elsewhere, such as %s, is not linked",
  (type) => {
    expect(
      shown({ ...PROBLEM, type })
        .querySelector("a")
        ?.getAttribute("href"),
    ).toBe("/docs/problems");
  },
);

test("silence and faults have words of their own, without what an error contains", () => {
  expect(shown(new NoAnswerError("a secret")).textContent).toContain("No answer");
  const text = shown(new Error("a secret")).textContent;
  expect(text).toContain("Fault of the console");
  expect(text).not.toContain("secret");
});
