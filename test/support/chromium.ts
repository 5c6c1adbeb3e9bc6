import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import process from "node:process";

const NAMES = ["chromium", "chromium-browser", "google-chrome"];
const START_TIMEOUT_MS = 90_000;
const CLOSE_TIMEOUT_MS = 10_000;

/** Where the machine has a Chromium, such as the package `chromium` of Debian. */
export function findChromium(): string | undefined {
  const folders = (process.env["PATH"] ?? "").split(delimiter);
  return NAMES.flatMap((name) => folders.map((folder) => join(folder, name))).find((path) => existsSync(path));
}

export type BrowserPage = {
  /** Addresses of all requests. */
  readonly requests: readonly string[];
  /** Errors of the console, of scripts, and of the content security policy. */
  readonly complaints: readonly string[];
  readonly goto: (url: string) => Promise<void>;
  readonly evaluate: <T>(expression: string) => Promise<T>;
  readonly type: (text: string) => Promise<void>;
  readonly emulate: (options: { width: number; height: number; scheme: "light" | "dark" }) => Promise<void>;
  readonly screenshot: () => Promise<Buffer>;
  /** Any other command of the protocol. */
  readonly call: (method: string, params?: object) => Promise<Record<string, unknown>>;
};

export type Browser = AsyncDisposable & { readonly open: () => Promise<BrowserPage> };

type Message = {
  readonly id?: number;
  readonly method?: string;
  readonly sessionId?: string;
  readonly params?: Record<string, unknown>;
  readonly result?: Record<string, unknown>;
  readonly error?: { readonly message: string };
};
type Send = (method: string, params?: object, sessionId?: string) => Promise<Record<string, unknown>>;

/** A headless Chromium over its own protocol: a library for this would be larger than all that is needed of it. */
export async function startChromium(path: string): Promise<Browser> {
  const profile = await mkdtemp(join(tmpdir(), "pamm-chromium-"));
  const flags = ["--headless=new", "--no-sandbox", "--remote-debugging-port=0", `--user-data-dir=${profile}`];
  const quiet = ["--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--disable-background-networking"];
  const child = spawn(path, [...flags, ...quiet, "about:blank"], { stdio: ["ignore", "ignore", "pipe"] });
  const ended = new Promise<void>((resolve) => child.once("close", () => resolve()));
  const socket = new WebSocket(await addressOf(child));
  await once(socket, "open");
  const { send, onEvent } = connectionOver(socket);
  return {
    open: () => openPage(send, onEvent),
    async [Symbol.asyncDispose]() {
      // It may end before it answers.
      const late = setTimeout(() => child.kill("SIGKILL"), CLOSE_TIMEOUT_MS);
      send("Browser.close").catch(() => child.kill("SIGKILL"));
      await ended;
      clearTimeout(late);
      await rm(profile, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

async function addressOf(child: ChildProcess): Promise<string> {
  let text = "";
  return await new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`Chromium did not start: ${text}`)), START_TIMEOUT_MS);
    child.once("error", reject);
    child.stderr?.on("data", (chunk: Buffer) => {
      text += chunk.toString();
      const [, address] = /DevTools listening on (ws:\S+)/.exec(text) ?? [];
      if (address === undefined) return;
      clearTimeout(timer);
      resolve(address);
    });
  });
}

type Listener = (message: Message) => void;

function connectionOver(socket: WebSocket): { send: Send; onEvent: (listener: Listener) => void } {
  const waiting = new Map<number, PromiseWithResolvers<Record<string, unknown>>>();
  const listeners: Listener[] = [];
  let sent = 0;
  socket.addEventListener("message", ({ data }) => {
    const message = JSON.parse(String(data)) as Message;
    const request = waiting.get(message.id ?? 0);
    waiting.delete(message.id ?? 0);
    if (message.error !== undefined) request?.reject(new Error(message.error.message));
    else request?.resolve(message.result ?? {});
    for (const listener of listeners) listener(message);
  });
  socket.addEventListener("close", () => {
    for (const request of waiting.values()) request.reject(new Error("Chromium has closed the connection"));
    waiting.clear();
  });
  return {
    onEvent: (listener) => void listeners.push(listener),
    send(method, params = {}, sessionId) {
      const request = Promise.withResolvers<Record<string, unknown>>();
      sent += 1;
      waiting.set(sent, request);
      socket.send(JSON.stringify({ id: sent, method, params, sessionId }));
      return request.promise;
    },
  };
}

async function openPage(send: Send, onEvent: (listener: Listener) => void): Promise<BrowserPage> {
  const { targetId } = await send("Target.createTarget", { url: "about:blank" });
  const { sessionId } = (await send("Target.attachToTarget", { targetId, flatten: true })) as { sessionId: string };
  const call = (method: string, params?: object) => send(method, params, sessionId);
  const requests: string[] = [];
  const complaints: string[] = [];
  let loaded = Promise.withResolvers<void>();
  onEvent(({ method, params = {}, sessionId: from }) => {
    if (from !== sessionId) return;
    if (method === "Page.loadEventFired") loaded.resolve();
    if (method === "Network.requestWillBeSent") requests.push((params["request"] as { url: string }).url);
    const complaint = complaintOf(method, params);
    if (complaint !== undefined) complaints.push(complaint);
  });
  for (const domain of ["Page", "Network", "Runtime", "Log"]) await call(`${domain}.enable`);
  return {
    requests,
    complaints,
    call,
    async goto(url) {
      loaded = Promise.withResolvers<void>();
      await call("Page.navigate", { url });
      await loaded.promise;
    },
    async evaluate<T>(expression: string) {
      const options = { expression, awaitPromise: true, returnByValue: true, userGesture: true };
      const { result, exceptionDetails } = await call("Runtime.evaluate", options);
      if (exceptionDetails !== undefined) throw new Error(JSON.stringify(exceptionDetails));
      return (result as { value: T }).value;
    },
    async type(text) {
      await call("Input.insertText", { text });
    },
    async emulate({ width, height, scheme }) {
      await call("Emulation.setDeviceMetricsOverride", { width, height, deviceScaleFactor: 1, mobile: width < 600 });
      await call("Emulation.setEmulatedMedia", { features: [{ name: "prefers-color-scheme", value: scheme }] });
    },
    async screenshot() {
      const { data } = await call("Page.captureScreenshot", { format: "png" });
      return Buffer.from(String(data), "base64");
    },
  };
}

function complaintOf(method: string | undefined, params: Record<string, unknown>): string | undefined {
  if (method === "Runtime.exceptionThrown") return JSON.stringify(params["exceptionDetails"]);
  if (method === "Log.entryAdded") {
    const { level, text, url } = params["entry"] as { level: string; text: string; url?: string };
    return level === "error" ? `${text} ${url ?? ""}`.trim() : undefined;
  }
  if (method !== "Runtime.consoleAPICalled" || params["type"] !== "error") return undefined;
  return (params["args"] as { value?: unknown; description?: string }[])
    .map(({ value, description }) => description ?? JSON.stringify(value))
    .join(" ");
}
