export type FieldProblem = { readonly field: string; readonly message: string };

const STATUS = {
  invalid_body: 400,
  unknown_account: 404,
  unknown_deal: 404,
  unknown_position: 404,
  unknown_route: 404,
  login_exists: 409,
  has_trades: 409,
  logins_exhausted: 409,
  not_enough_money: 409,
  trade_disabled: 409,
  too_many_faults: 409,
  foreign_host: 403,
} as const;

export type ProblemCode = keyof typeof STATUS;

/** A refusal of the control API, with all mistakes. */
export class ControlProblem extends Error {
  override readonly name = "ControlProblem";
  readonly status: number;
  readonly code: ProblemCode;
  readonly errors: readonly FieldProblem[];

  constructor(code: ProblemCode, message: string, errors: readonly FieldProblem[] = []) {
    super(message);
    this.status = STATUS[code];
    this.code = code;
    this.errors = errors;
  }
}
