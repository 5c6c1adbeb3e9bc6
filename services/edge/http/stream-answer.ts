import { Readable } from "node:stream";
import type { FastifyReply, FastifyRequest } from "fastify";
import { MINUTE_MS } from "#kernel/values/duration.ts";
import { type CsvRow, csvText } from "../wire/csv.ts";
import { arrayOf, type Pages, writeArray } from "../wire/json-array.ts";
import { contextOf, inputOf, pollOf, type Work } from "./request.ts";
import type { Route } from "./route.ts";
import { answerInTime } from "./time-limit.ts";

/** `leave` frees the slot of the request. */
export type Answering<R extends Route = Route> = Work<R> & { readonly leave: () => void };

/** The items of a list, written one by one. */
export async function sendList(work: Answering<Extract<Route, { kind: "list" }>>): Promise<FastifyReply> {
  const { route, runtime, request, reply, leave } = work;
  const pages = route.pages(runtime.deps, inputOf(route, request), () => contextOf(route, request), pollOf(work));
  const first = await firstOf(pages, work);
  reply.type("application/json; charset=utf-8");
  const serialize = reply.compileSerializationSchema(route.item as Readonly<Record<string, unknown>>);
  if (first.done === true) {
    leave();
    return reply.send(arrayOf(first.value, serialize));
  }
  return reply.send(streamAnswer(writeArray(first.value, pages, serialize), work));
}

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

export async function sendFile(work: Answering, file: NonNullable<Route["file"]>): Promise<FastifyReply> {
  const { route, runtime, request, reply } = work;
  const input = inputOf(route, request);
  const pages = file.rows(runtime.deps, input, () => contextOf(route, request));
  const first = await firstOf(pages, work);
  return reply
    .type("text/csv; charset=utf-8; header=present")
    .header("content-disposition", `attachment; filename="${file.name(input, runtime.deps)}"`)
    .send(streamAnswer(writeRows(first, pages), work));
}

/** The first page is awaited, so that a refusal becomes a problem; the rest is read as the caller consumes it. */
async function firstOf<Item>(pages: Pages<Item>, { route, request, leave }: Answering) {
  try {
    return await answerInTime(route, request, pages.next());
  } catch (error) {
    leave();
    throw error;
  }
}

type Page = readonly CsvRow[];

async function* writeRows(first: IteratorResult<Page, Page>, rest: Pages<CsvRow>): AsyncGenerator<string> {
  for (let page = first; ; page = await rest.next()) {
    yield csvText(page.value);
    if (page.done === true) return;
  }
}

/** A caller that has not read its answer by then is cut off: it holds a slot. */
const READ_WITHIN_MS = 2 * MINUTE_MS;

/** An answer that is written while its caller reads it. */
export function streamAnswer(parts: AsyncGenerator<string>, { runtime, request, leave }: Answering): Readable {
  const text = Readable.from(parts, { objectMode: false });
  const timer = setTimeout(() => text.destroy(new Error("the caller reads too slowly")), READ_WITHIN_MS);
  text.once("close", () => {
    clearTimeout(timer);
    leave();
  });
  // The status has left already; the connection is cut, so that the caller does not take a part for the whole.
  text.on("error", (error) => {
    runtime.log.warn("answer aborted, connection closed", {
      request_id: request.id,
      route: request.routeOptions.url,
      error,
    });
  });
  return text;
}
