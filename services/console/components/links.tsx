import {
  breakHref,
  feePaymentHref,
  feeRunHref,
  investorHref,
  masterHref,
  operationHref,
  operationsHref,
  reviewHref,
} from "../app/addresses.ts";
import { can } from "../session/session.ts";

type Id = { readonly id: string | null | undefined };

const None = () => <span class="none">–</span>;

export function OperationLink({ id }: Id) {
  if (id === null || id === undefined) return <None />;
  if (isLeg(id)) return <span class="code">leg {id}</span>;
  // The beginning of an id is its time, so ids of one minute differ in their ends only.
  return (
    <a class="code" href={operationHref(id)} title={id}>
      {isUuid(id) ? `…${id.slice(-8)}` : id}
    </a>
  );
}

export const MasterLink = ({ id }: Id) => (
  <LoginLink id={id} href={can("masters:read", "subscriptions:read") ? masterHref : undefined} />
);
export const InvestorLink = ({ id }: Id) => (
  <LoginLink id={id} href={can("investors:read") ? investorHref : undefined} />
);

export function AccountLink({ login, isMaster }: { readonly login: string | null; readonly isMaster: boolean }) {
  return isMaster ? <MasterLink id={login} /> : <InvestorLink id={login} />;
}

export function FeeRunLink({ id, master }: { readonly id: bigint; readonly master: string }) {
  return <a href={feeRunHref(id, master)}>{id.toString()}</a>;
}

/** Named by what it explains. */
export function FeePaymentLink({ id }: { readonly id: bigint }) {
  return can("fees:read") ? <a href={feePaymentHref(id)}>{id.toString()}</a> : <span>{id.toString()}</span>;
}

export function ReviewLink({ id }: Id) {
  if (id === null || id === undefined) return <None />;
  return can("ops") ? <a href={reviewHref(id)}>{id}</a> : <span>{id}</span>;
}

export function BreakLink({ id }: Id) {
  if (id === null || id === undefined) return <None />;
  return can("ops") ? <a href={breakHref(id)}>{id}</a> : <span>{id}</span>;
}

/** A deal on the trading platform, with the way to the operation that has made it. */
export function DealLink({ id }: { readonly id: bigint | null | undefined }) {
  if (id === null || id === undefined || !can("investors:read")) return <Ticket id={id} />;
  return (
    <a class="code" href={operationsHref({ ticket: id.toString() })}>
      {id.toString()}
    </a>
  );
}

/** A ticket of the trading platform, which no page of the console shows. */
export function Ticket({ id }: { readonly id: bigint | null | undefined }) {
  return id === null || id === undefined ? <None /> : <span class="code">{id.toString()}</span>;
}

function LoginLink({ id, href }: Id & { readonly href: ((login: string) => string) | undefined }) {
  if (id === null || id === undefined) return <None />;
  if (href === undefined) return <span class="code">{id}</span>;
  return (
    <a class="code" href={href(id)}>
      {id}
    </a>
  );
}

/** Reviews and breaks name legs by their numbers. */
function isLeg(id: string): boolean {
  return /^\d+$/.test(id);
}

function isUuid(id: string): boolean {
  return /^[0-9a-f]{8}-[0-9a-f-]{27}$/.test(id);
}
