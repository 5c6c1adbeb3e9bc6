import { Type } from "typebox";
import { string } from "../../fields/field.ts";
import { ofWhole, shown } from "../../fields/message.ts";

/** A review or a break. Numbers of two services may be equal, so the public id begins with the service that keeps it. */
export type CaseId<Service> = { readonly service: Service; readonly id: bigint };

export const caseId = (description: string, example: string) =>
  ofWhole(string({ description, example }), ({ service, id }: CaseId<string>) => `${service}-${id}`);

/** Of an id that has passed its check. */
export function readCaseId<Service extends string>(text: string): CaseId<Service> {
  const [service, number = ""] = text.split("-");
  return { service: service as Service, id: BigInt(number) };
}

/** JSON in the message. */
export const evidenceReply = (description: string, example: Readonly<Record<string, unknown>>) =>
  shown<Readonly<Record<string, unknown>>, string>(
    Type.Unsafe({ type: "object", additionalProperties: true, description, examples: [example] }),
    (json) => JSON.parse(json) as Readonly<Record<string, unknown>>,
  );
