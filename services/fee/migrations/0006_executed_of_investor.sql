-- outside a transaction
create index concurrently fee_payment_executed_of_investor on fee_payment (investor_login, id desc)
  where status = 'EXECUTED' and amount_minor > 0;
