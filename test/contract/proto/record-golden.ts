// Records the bytes of new messages. Recorded bytes are never changed, because services of that version have sent them.
import { asJson, readGolden, writeGolden } from "./golden.ts";
import { generatedMessages } from "./messages.ts";
import { contractMessages, sampleBytes } from "./sample.ts";

const golden = readGolden();
const generated = generatedMessages();

for (const message of contractMessages().filter(({ typeName }) => !golden.has(typeName))) {
  const bytes = sampleBytes(message);
  golden.set(message.typeName, {
    bytes: Buffer.from(bytes).toString("hex"),
    value: asJson(generated.get(message.typeName)?.decode(bytes)),
  });
}
writeGolden(golden);
