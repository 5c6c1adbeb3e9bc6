// Prints the packages of the images as CycloneDX, from package-lock.json in the present folder and for the Node that runs it. `npm sbom --omit=dev` leaves out packages that
// a development package needs, too, such as fastify and nats.
import { readFileSync } from "node:fs";
import process from "node:process";

const FOLDER = "node_modules/";
/** Development packages whose code is in the files of the console and the documentation. */
const BUNDLED = new Set(
  ["preact", "@preact/signals", "@preact/signals-core", "uplot", "@scalar/fastify-api-reference"].map(
    (name) => FOLDER + name,
  ),
);

const lock = JSON.parse(readFileSync("package-lock.json", "utf8"));
const installed = Object.entries(lock.packages).filter(
  ([path, { dev, optional, devOptional }]) => BUNDLED.has(path) || (path !== "" && !dev && !optional && !devOptional),
);
const node = process.version.slice(1);
const components = [
  { type: "application", "bom-ref": `node@${node}`, name: "node", version: node, purl: `pkg:generic/node@${node}` },
  ...installed.map(([path, found]) => componentOf(path, found)),
];
const metadata = { component: { type: "application", "bom-ref": lock.name, name: lock.name, version: lock.version } };
process.stdout.write(
  `${JSON.stringify({ bomFormat: "CycloneDX", specVersion: "1.5", version: 1, metadata, components }, undefined, 1)}\n`,
);

function componentOf(path, { version, integrity, license }) {
  const name = path.slice(path.lastIndexOf(FOLDER) + FOLDER.length);
  return {
    type: "library",
    "bom-ref": `${path}@${version}`,
    name,
    version,
    purl: `pkg:npm/${name.replace("@", "%40")}@${version}`,
    ...(license === undefined ? {} : { licenses: [{ license: { name: license } }] }),
    ...(integrity === undefined ? {} : { hashes: [hashOf(integrity)] }),
  };
}

function hashOf(integrity) {
  const [algorithm, text] = integrity.split("-");
  return { alg: algorithm.replace("sha", "SHA-"), content: Buffer.from(text, "base64").toString("hex") };
}
