// The reference of the API, in the browser. The key that a reader types stays in the memory of the page.
"use strict";

const CHANGES = new Set(["POST", "PATCH", "PUT", "DELETE"]);

/** A command that is tried without a key of its own gets a new one, so that a second try with other values is a new request. */
function send(input, init) {
  const request = new Request(input, init);
  if (CHANGES.has(request.method) && !request.headers.get("Idempotency-Key")) {
    request.headers.set("Idempotency-Key", crypto.randomUUID());
  }
  return fetch(request, { credentials: "omit" });
}

/** An example of the key would be sent as it is, and a second try would be refused. */
function withoutExampleKeys(document) {
  for (const path of Object.values(document.paths)) {
    for (const { parameters = [] } of Object.values(path)) {
      for (const parameter of parameters) {
        if (parameter.name?.toLowerCase() !== "idempotency-key") continue;
        for (const holder of [parameter, parameter.schema ?? {}]) {
          delete holder.example;
          delete holder.examples;
        }
        parameter.description =
          `${parameter.description ?? ""} Left empty, a new key is made for each try here.`.trim();
      }
    }
  }
  return document;
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
  const content = withoutExampleKeys(await response.json());
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
