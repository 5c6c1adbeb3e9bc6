import { once } from "node:events";
import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";

/** A span as a collector receives it. */
export type ReceivedSpan = {
  readonly service: string;
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  /** Empty for the first span of a trace. */
  readonly parentSpanId: string;
  /** 2 server, 3 client, 5 consumer. */
  readonly kind: number;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly hasFailed: boolean;
};

export type TraceCollector = AsyncDisposable & {
  readonly url: string;
  readonly spans: readonly ReceivedSpan[];
  /** Everything that was received, as text. */
  readonly received: () => string;
  readonly headers: readonly IncomingHttpHeaders[];
};

type AttributeValue = {
  readonly stringValue?: string;
  readonly intValue?: number;
  readonly arrayValue?: { readonly values: readonly AttributeValue[] };
};
type Attribute = { readonly key: string; readonly value: AttributeValue };
type Body = {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly Attribute[] };
    readonly scopeSpans: readonly {
      readonly spans: readonly (Omit<ReceivedSpan, "attributes" | "service" | "hasFailed" | "parentSpanId"> & {
        readonly parentSpanId?: string;
        readonly attributes: readonly Attribute[];
        readonly status: { readonly code?: number };
      })[];
    }[];
  }[];
};

const ERROR = 2;

/** Receives traces over OTLP (HTTP, JSON), as a collector does. */
export async function traceCollector(): Promise<TraceCollector> {
  const spans: ReceivedSpan[] = [];
  const texts: string[] = [];
  const headers: IncomingHttpHeaders[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      if (request.url !== "/v1/traces" || request.method !== "POST") {
        response.writeHead(404).end();
        return;
      }
      const text = Buffer.concat(chunks).toString("utf8");
      texts.push(text);
      headers.push(request.headers);
      spans.push(...spansOf(JSON.parse(text) as Body));
      response.writeHead(200, { "content-type": "application/json" }).end("{}");
    });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans,
    headers,
    received: () => texts.join("\n"),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

function spansOf({ resourceSpans }: Body): ReceivedSpan[] {
  return resourceSpans.flatMap(({ resource, scopeSpans }) => {
    const service = String(valuesOf(resource.attributes)["service.name"]);
    return scopeSpans.flatMap(({ spans }) =>
      spans.map(({ name, traceId, spanId, parentSpanId = "", kind, attributes, status }) => {
        const hasFailed = status.code === ERROR;
        return { service, name, traceId, spanId, parentSpanId, kind, attributes: valuesOf(attributes), hasFailed };
      }),
    );
  });
}

function valuesOf(attributes: readonly Attribute[]): Record<string, unknown> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, valueOf(value)]));
}

function valueOf({ stringValue, intValue, arrayValue }: AttributeValue): unknown {
  return stringValue ?? intValue ?? arrayValue?.values.map(valueOf);
}
