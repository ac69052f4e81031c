/** A typical notification: usual length, usual fields. */
export const notification = JSON.stringify({
  title: 'Disk almost full',
  message: '/var on db-01 is at 91 %, 4.1 GB left; it was at 84 % an hour ago',
  level: 'warning',
  ip: '10.1.2.3',
  host: 'db-01.example.com',
});
