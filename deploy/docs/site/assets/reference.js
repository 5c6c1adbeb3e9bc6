// The reference of the API, in the browser. The key that a reader types stays in the memory of the page.
"use strict";

const CHANGES = new Set(["POST", "PATCH", "PUT", "DELETE"]);

/** Shown in samples, and never sent: a fixed key would refuse a second try with other values. */
const KEY_OF_SAMPLES = "new-uuid-for-each-request";

/** A command that is tried without a key of the reader's gets a new one. */
function send(input, init) {
  const request = new Request(input, init);
  const key = request.headers.get("Idempotency-Key");
  if (CHANGES.has(request.method) && (!key || key === KEY_OF_SAMPLES)) {
    request.headers.set("Idempotency-Key", crypto.randomUUID());
  }
  return fetch(request, { credentials: "omit" });
}

function withKeyOfSamples(content) {
  const operations = Object.values(content.paths).flatMap((path) => Object.values(path));
  const parameters = operations.flatMap((operation) => operation.parameters ?? []);
  for (const parameter of [...parameters, ...Object.values(content.components?.parameters ?? {})]) {
    if (parameter.name?.toLowerCase() !== "idempotency-key") continue;
    for (const holder of [parameter, parameter.schema ?? {}]) {
      delete holder.example;
      delete holder.examples;
    }
    parameter.example = KEY_OF_SAMPLES;
    parameter.description = `${parameter.description ?? ""} For a try here, \`${KEY_OF_SAMPLES}\` stands for a new UUID each time.`;
  }
  return content;
}

/** A description ends with a list of the values and what they mean; the viewer makes one of its own. */
function withoutLists(value) {
  if (typeof value !== "object" || value === null) return;
  if (Array.isArray(value["x-enum-descriptions"]) && typeof value.description === "string") {
    [value.description] = value.description.split(/\n*^- /m);
  }
  for (const part of Object.values(value)) withoutLists(part);
}

/** The viewer makes some of its style elements without the nonce. */
function nonceForStyles() {
  const { content: nonce } = document.querySelector("meta[property=csp-nonce]");
  const create = Reflect.get(document, "createElement").bind(document);
  Object.defineProperty(document, "createElement", {
    value: (name, options) => {
      const element = create(name, options);
      if (element instanceof HTMLStyleElement) element.nonce = nonce;
      return element;
    },
  });
}

async function showReference() {
  const response = await fetch("/openapi.json", { credentials: "omit" });
  const content = withKeyOfSamples(await response.json());
  withoutLists(content);
  globalThis.Scalar.createApiReference("#reference", {
    content,
    servers: [{ url: location.origin, description: "This system" }],
    customFetch: send,
    persistAuth: false,
    telemetry: false,
    agent: { disabled: true },
    mcp: { disabled: true },
    withDefaultFonts: false,
    showDeveloperTools: "never",
    hideClientButton: true,
    hideDarkModeToggle: true,
    documentDownloadType: "none",
    authentication: { preferredSecurityScheme: "apiKey" },
    defaultOpenAllTags: true,
    generateTagSlug: ({ name }) => name.toLowerCase().replaceAll(/\W+/g, "-"),
    generateOperationSlug: ({ method, path }) => `${method.toUpperCase()}${path}`,
    theme: "default",
    favicon: document.querySelector("link[rel=icon]").href,
    metaData: { title: document.title },
    hiddenClients: {
      c: true,
      clojure: true,
      csharp: true,
      dart: true,
      fsharp: true,
      go: true,
      http: true,
      java: true,
      kotlin: true,
      node: true,
      objc: true,
      ocaml: true,
      powershell: true,
      r: true,
      ruby: true,
      rust: true,
      swift: true,
      js: ["axios", "jquery", "ofetch", "xhr"],
      php: ["guzzle"],
      python: ["aiohttp", "httpx_async", "httpx_sync", "python3"],
      shell: ["httpie", "wget"],
    },
    featuredClients: ["shell/curl", "js/fetch", "python/requests", "php/curl"],
    defaultHttpClient: { targetKey: "shell", clientKey: "curl" },
  });
}

nonceForStyles();
// The script of the viewer runs after this one and before that event.
document.addEventListener("DOMContentLoaded", () => {
  showReference().catch((error) => {
    document.querySelector("#reference").textContent = `The reference cannot be shown: ${error.message}`;
  });
});
