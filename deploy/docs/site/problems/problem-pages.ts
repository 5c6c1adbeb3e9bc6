import type { Entry } from "../../../../services/edge/problems/entry.ts";
import { CODES, PROBLEMS, type ProblemCode } from "../../../../services/edge/problems/problems.ts";
import type { DocumentedRoute } from "../../../../services/edge/api/exchange.ts";
import { type Html, html, trusted } from "../html.ts";
import { highlight } from "../guide/highlight.ts";
import { problemExample } from "../../openapi/problem-responses.ts";
import { REFERENCE } from "../reference/reference-page.ts";

export const PROBLEM_PAGES = "/docs/problems";

export type ProblemTexts = {
  readonly routes: readonly DocumentedRoute[];
  readonly inline: (markdown: string) => Html;
};

export function problemIndex({ inline }: ProblemTexts): Html {
  const rows = CODES.map(
    (code) =>
      html`<tr>
        <td>
          <a href="${PROBLEM_PAGES}/${code}"><code>${code}</code></a>
        </td>
        <td>${PROBLEMS[code].status}</td>
        <td>${inline(PROBLEMS[code].meaning)}</td>
      </tr>`,
  );
  return html`<h1>Problem codes</h1>
    <p>
      Every error is <code>application/problem+json</code>. Branch on <code>code</code>; <code>type</code> is the
      address of its page here. <a href="/docs/guide/errors">Errors</a> explains the members.
    </p>
    <div class="table">
      <table>
        <thead>
          <tr>
            <th>code</th>
            <th>status</th>
            <th>meaning</th>
          </tr>
        </thead>
        <tbody>
          ${rows}
        </tbody>
      </table>
    </div>`;
}

export function problemPage(code: ProblemCode, { routes, inline }: ProblemTexts): Html {
  const { status, title, meaning, retry } = PROBLEMS[code];
  const example = highlight(JSON.stringify(problemExample(code, routes), undefined, 2), "json");
  const answering = routes.filter(({ refusals }) => refusals.includes(code));
  return html`<p class="kicker"><a href="${PROBLEM_PAGES}">Problem codes</a></p>
    <h1><code>${code}</code></h1>
    <p class="lead">${title}.</p>
    <dl class="facts">
      <div>
        <dt>Status</dt>
        <dd>${status}</dd>
      </div>
      <div>
        <dt>Retryable</dt>
        <dd>${retry !== undefined ? "yes" : "no"}</dd>
      </div>
      <div>
        <dt>Members of its own</dt>
        <dd>${memberNames(code)}</dd>
      </div>
    </dl>
    <h2>Meaning</h2>
    <p>${inline(meaning)}</p>
    <h2>What to do</h2>
    <p>${inline(whatToDo(PROBLEMS[code]))}</p>
    ${status >= 500 ? OUTCOME : []}
    <h2>Example</h2>
    <figure class="code">
      <figcaption>application/problem+json</figcaption>
      <pre tabindex="0"><code>${trusted(example)}</code></pre>
    </figure>
    <h2>Answered by</h2>
    ${
      answering.length === 0
        ? html`<p>Any route, as far as it applies.</p>`
        : html`<ul>
            ${answering.map(routeItem)}
          </ul>`
    }`;
}

const OUTCOME = html`<p>
  For commands, <code>outcome</code> is what counts: <code>not_executed</code> means that nothing was executed and
  nothing will be; for <code>unknown</code>, and without it, see
  <a href="/docs/guide/money-rules#outcomes">the money rules</a>.
</p>`;

function routeItem({ method, url, summary, tag }: DocumentedRoute): Html {
  const path = url.replaceAll(/:(\w+)/g, "{$1}");
  return html`<li>
    <a href="${referenceOf(tag, method, path)}"><code>${method} ${path}</code></a> ${summary}
  </li>`;
}

/** The place in the reference, as assets/reference.js names it. */
function referenceOf(tag: string, method: string, path: string): string {
  return `${REFERENCE}#tag/${tag.toLowerCase().replaceAll(/\W+/g, "-")}/${method}${path}`;
}

function whatToDo(entry: Entry): string {
  if (entry.advice !== undefined) return entry.advice;
  return entry.retry !== undefined ? entry.retry : entry.poll;
}

function memberNames(code: ProblemCode): Html {
  const { members = {} } = PROBLEMS[code];
  const names = Object.entries(members).map(
    ([name, { example }], index) =>
      html`${index > 0 ? ", " : ""}<code>${name}</code> (${typeof example === "number" ? "integer" : "text"})`,
  );
  return names.length === 0 ? html`none` : html`${names}`;
}
