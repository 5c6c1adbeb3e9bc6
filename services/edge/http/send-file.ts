import type { FastifyReply, FastifyRequest } from "fastify";
import type { Log } from "#kernel/log.ts";
import { contextOf, inputOf } from "./route-context.ts";
import type { Deps, Route } from "./route.ts";
import { streamAnswer } from "./stream-answer.ts";
import { answerInTime } from "./time-limit.ts";
import { type CsvRow, csvText } from "../wire/csv.ts";
import type { Pages } from "../wire/json-array.ts";

type File = NonNullable<Route["file"]>;

type Work = {
  readonly route: Route;
  readonly file: File;
  readonly runtime: { readonly deps: Deps; readonly log: Log };
  readonly leave: () => void;
};

/** By the query, or else by the header Accept. */
export function wantsCsv({ query, headers }: FastifyRequest): boolean {
  const { format } = query as { readonly format?: string };
  if (format !== undefined) return format === "csv";
  const { accept = "" } = headers;
  const qualityOf = (type: string): number => {
    const range = accept.split(",").find((each) => each.split(";")[0]?.trim().toLowerCase() === type);
    if (range === undefined) return 0;
    const [, quality = "1"] = /;\s*q=([0-9.]+)/i.exec(range) ?? [];
    return Number(quality);
  };
  return qualityOf("text/csv") > Math.max(qualityOf("application/json"), qualityOf("*/*"));
}

/** The first page is awaited, so that a refusal becomes a problem; the rest is read as the caller consumes it. */
export async function sendFile({ route, file, runtime, leave }: Work, request: FastifyRequest, reply: FastifyReply) {
  const input = inputOf(route, request);
  const pages = file.rows(runtime.deps, input, () => contextOf(route, request, Date.now()));
  const { receivedAt } = request.edge;
  const first = await answerInTime(route.class, receivedAt, pages.next()).catch((error: unknown) => {
    leave();
    throw error;
  });
  return reply
    .type("text/csv; charset=utf-8; header=present")
    .header("content-disposition", `attachment; filename="${file.name(input, runtime.deps)}"`)
    .send(streamAnswer(textOf(first, pages), { request, log: runtime.log, leave }));
}

async function* textOf(first: IteratorResult<readonly CsvRow[], readonly CsvRow[]>, rest: Pages<CsvRow>) {
  for (let page = first; ; page = await rest.next()) {
    yield csvText(page.value);
    if (page.done === true) return;
  }
}
