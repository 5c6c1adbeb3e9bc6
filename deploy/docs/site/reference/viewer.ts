import plugin from "@scalar/fastify-api-reference";
import Fastify from "fastify";

/** The script of the viewer. Its package has it in a plugin that also serves a page with inline scripts, so the plugin runs in an app that does not listen. */
export async function viewerScript(): Promise<Buffer> {
  const app = Fastify();
  await app.register(plugin, { routePrefix: "/viewer", configuration: { url: "/openapi.json" } });
  const { statusCode, rawPayload } = await app.inject({ url: "/viewer/js/scalar.js" });
  if (statusCode !== 200) throw new Error(`the viewer has no script: status ${statusCode}`);
  return rawPayload;
}
