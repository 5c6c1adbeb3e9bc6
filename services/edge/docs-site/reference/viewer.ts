import Fastify from "fastify";

/**
 * The script of the viewer. Its package has the script inside a plugin that also serves a page with inline scripts, so the plugin
 * runs in an app of its own, which does not listen, and only the script is taken.
 */
export async function viewerScript(): Promise<string> {
  const { default: plugin } = await import("@scalar/fastify-api-reference");
  const app = Fastify();
  await app.register(plugin, { routePrefix: "/viewer", configuration: { url: "/openapi.json" } });
  const { statusCode, body } = await app.inject({ url: "/viewer/js/scalar.js" });
  await app.close();
  if (statusCode !== 200) throw new Error(`the viewer has no script: status ${statusCode}`);
  return body;
}
