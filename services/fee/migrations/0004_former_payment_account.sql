-- Forward only: once applied, this file must not change. Rules: CONTRIBUTING.md, "A new migration".

-- A payment account that fees of a Master were paid to before. A difference on it still stops the fees of the Master.
create table former_payment_account (
  login        text primary key check (login <> ''),
  master_login text not null,
  until        timestamptz not null
);

create index former_payment_account_by_master on former_payment_account (master_login);
