/** Brings a database to the schema of a folder of migrations, in a process that can be killed: PATH FOLDER. */
import { openWritable } from '#storage/sqlite/file/database-file.ts';
import { migrate } from '#storage/sqlite/migrate.ts';

const [path = '', folder = ''] = process.argv.slice(2);
const db = openWritable(path);
migrate(db, folder);
db.close();
