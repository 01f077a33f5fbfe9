// Loaded before the program by tests only: the host is called what HOST_NAME says, as in a container that
// was created anew.
import { syncBuiltinESMExports } from 'node:module';
import os from 'node:os';

os.hostname = () => process.env.HOST_NAME ?? '';
syncBuiltinESMExports();
