-- outside a transaction
create index concurrently payment_credit_by_day on payment_credit (master_login, deal_at) include (amount_minor);
