// Cuts GitHub's OpenAPI description down to operations.txt, and picks the webhook payloads that the fake hands out.
//   node refresh.mjs [openapi version] [webhooks-examples version]
// Writes into ../testdata. Run it as `make refresh-openapi`; the result is committed.
import { execFileSync } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";

const here = import.meta.dirname;
const out = path.join(here, "..", "testdata");
const [openapiVersion = "23.0.2", examplesVersion = "7.6.1"] = process.argv.slice(2);

// slice keeps the wanted operations and every component that they reach, and drops all prose that no validator reads.
function slice(doc, operations) {
  const paths = {}, components = {}, missing = [];
  for (const { method, template } of operations) {
    const item = doc.paths[template];
    if (!item?.[method]) { missing.push(`${method} ${template}`); continue; }
    (paths[template] ??= item.parameters ? { parameters: item.parameters } : {})[method] = trim(item[method]);
  }
  if (missing.length) throw new Error(`GitHub's description has no ${missing.join(", ")}`);
  const seen = new Set();
  const reach = (node) => {
    if (Array.isArray(node)) return node.forEach(reach);
    if (!node || typeof node !== "object") return;
    if (typeof node.$ref === "string" && node.$ref.startsWith("#/components/") && !seen.has(node.$ref)) {
      seen.add(node.$ref);
      const [, , section, name] = node.$ref.split("/");
      const found = trim(doc.components[section][name], name, section);
      (components[section] ??= {})[name] = found;
      reach(found);
    }
    Object.values(node).forEach(reach);
  };
  reach(paths);
  const basic = "#/components/schemas/basic-error"; // what undeclared errors are checked against
  reach([{ $ref: basic }, { $ref: "#/components/schemas/validation-error" }]);
  return { openapi: doc.openapi, info: { title: doc.info.title, version: doc.info.version, license: doc.info.license }, paths, components };
}

// trim drops prose: descriptions, but not of responses, which must have one; nothing inside examples; and no name of a property.
function trim(node, key = "", parent = "") {
  if (["example", "examples", "value"].includes(key)) return node;
  if (Array.isArray(node)) return node.map((n) => trim(n, "", key));
  if (!node || typeof node !== "object") return node;
  if (key === "properties") return Object.fromEntries(Object.entries(node).map(([k, v]) => [k, trim(v)]));
  const copy = {};
  for (const [k, v] of Object.entries(node)) {
    if (["externalDocs", "x-github", "tags", "summary"].includes(k)) continue;
    if (k === "description" && parent !== "responses") continue;
    copy[k] = trim(v, k, key);
  }
  return copy;
}

// lines writes one entry a line, sorted, so that a new version shows as a readable difference.
function lines(doc) {
  const sorted = (o) => Object.keys(o).sort();
  const block = (o) => sorted(o).map((k) => `${JSON.stringify(k)}:${JSON.stringify(o[k])}`).join(",\n");
  const sections = sorted(doc.components).map((s) => `${JSON.stringify(s)}:{\n${block(doc.components[s])}\n}`).join(",\n");
  return `{"openapi":${JSON.stringify(doc.openapi)},"info":${JSON.stringify(doc.info)},\n"paths":{\n${block(doc.paths)}\n},\n"components":{\n${sections}\n}}\n`;
}

// payloads are the examples that are committed, by the name of their file.
const payloads = {
  "check_run.completed": (e) => e.name === "check_run" && e.payload.check_run.conclusion === "failure",
  "issue_comment.created": (e) => e.name === "issue_comment" && e.payload.action === "created" && !e.payload.organization,
  "merge_group.checks_requested": (e) => e.name === "merge_group",
  "pull_request.opened": (e) => e.name === "pull_request" && e.payload.action === "opened" && !e.payload.installation,
  "pull_request.synchronize": (e) => e.name === "pull_request" && e.payload.action === "synchronize",
  push: (e) => e.name === "push" && e.payload.ref.startsWith("refs/heads/"),
  workflow_dispatch: (e) => e.name === "workflow_dispatch",
  "workflow_run.completed": (e) => e.name === "workflow_run" && e.payload.action === "completed" && e.payload.workflow_run.conclusion,
};

const tmp = fs.mkdtempSync(path.join(os.tmpdir(), "refresh-openapi-"));
try {
  execFileSync("npm", ["install", "--no-audit", "--no-fund", "--silent", "--prefix", tmp,
    `@octokit/openapi@${openapiVersion}`, `@octokit/webhooks-examples@${examplesVersion}`], { stdio: "inherit" });
  const octokit = path.join(tmp, "node_modules", "@octokit");
  const read = (...p) => JSON.parse(fs.readFileSync(path.join(octokit, ...p)));

  const operations = fs.readFileSync(path.join(here, "operations.txt"), "utf8").split("\n")
    .filter((l) => l && !l.startsWith("#"))
    .map((l) => { const [method, template] = l.split(" "); return { method: method.toLowerCase(), template }; });
  const text = lines(slice(read("openapi", "generated", "api.github.com.json"), operations));
  fs.writeFileSync(path.join(out, "openapi.json"), text);
  fs.copyFileSync(path.join(octokit, "openapi", "LICENSE"), path.join(out, "openapi.LICENSE"));

  const examples = read("webhooks-examples", "api.github.com", "index.json")
    .flatMap(({ name, examples }) => examples.map((payload) => ({ name, payload })));
  for (const [file, wanted] of Object.entries(payloads)) {
    const found = examples.find(wanted);
    if (!found) throw new Error(`no example of ${file}`);
    fs.writeFileSync(path.join(out, "events", `${file}.json`), JSON.stringify(found.payload, null, 1) + "\n");
  }
  console.log(`${operations.length} operations, ${text.length} bytes; ${Object.keys(payloads).length} payloads`);
} finally {
  fs.rmSync(tmp, { recursive: true, force: true });
}
