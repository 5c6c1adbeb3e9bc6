alter table cashflow validate constraint cashflow_queue;
