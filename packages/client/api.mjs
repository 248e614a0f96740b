// `make api-types`: the types of the whole HTTP API, from the OpenAPI document on stdin, to stdout.
import { text } from "node:stream/consumers";
import openapiTS, { astToString } from "openapi-typescript";

const api = JSON.parse(await text(process.stdin));
// Every call may be refused, always in one format: stated once per call, not for each status.
const refused = { description: "A problem: decide by its `code`.", content: { "application/problem+json": { schema: { $ref: "#/components/schemas/Problem" } } } };
for (const call of Object.values(api.paths).flatMap(Object.values)) {
  const answers = Object.entries(call.responses).filter(([status]) => Number(status) < 400);
  call.responses = { ...Object.fromEntries(answers), default: refused };
}
process.stdout.write(`// Made by \`make api-types\` from the OpenAPI document; do not edit.\n${astToString(await openapiTS(api, { alphabetize: true }))}`);
