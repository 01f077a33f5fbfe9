import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { AlmonerError } from '../../core/errors/error.js';
import { CONFIG_FILE_NAME } from '../../runtime/config/config.js';

/** What `init` asks for; everything else has a default that the written file explains. */
export type FirstRealm = {
  readonly name: string;
  readonly baseUrl: string;
  readonly realmId: string;
  readonly keyEnv: string | null;
  readonly keyFile: string | null;
  readonly rate: string;
  readonly certainty: string;
};

export type FirstFile = { readonly path: string; readonly text: string };

export function firstFiles(folder: string, realm: FirstRealm | null): FirstFile[] {
  return [
    { path: join(folder, CONFIG_FILE_NAME), text: configText(realm) },
    { path: join(folder, 'jobs', 'first-airdrop.csv'), text: SAMPLE_CSV },
    { path: join(folder, 'jobs', 'first-reward.yaml'), text: sampleRule(realm) },
    { path: join(folder, 'jobs', 'first-audience.csv'), text: SAMPLE_AUDIENCE },
  ];
}

/** Writes all of them or none: a file that exists is somebody's work. */
export async function writeFirstFiles(files: readonly FirstFile[]): Promise<void> {
  const inTheWay = files.filter(({ path }) => existsSync(path)).map(({ path }) => path);
  if (inTheWay.length > 0)
    throw new AlmonerError(
      'ALM_CLI_FILES_EXIST',
      `${inTheWay.join(', ')} ${inTheWay.length === 1 ? 'exists' : 'exist'} already. Nothing was written.`,
    );
  for (const { path, text } of files) {
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, text, { flag: 'wx' });
  }
}

function configText(realm: FirstRealm | null): string {
  const lines =
    realm === null
      ? [
          '# No realm yet: everything is a rehearsal on the embedded realm service. Take the # away to add one.',
          ...realmLines(EXAMPLE).map((line) => `# ${line}`),
        ]
      : realmLines(realm);
  return `# almoner's configuration. Environment and flags win over it; unknown names are refused.
# \`almoner doctor\` prints what is in force and checks it. Keys never stand in this file.

# redisUrl: redis://127.0.0.1:6379     # default: a private Redis in the data folder
# dataFolder: ~/.local/share/almoner   # the books; keep them, they know what was paid
# reportsFolder: ./reports
# retentionDays: 30                    # finished batches are archived after this many days

${lines.join('\n')}
`;
}

const EXAMPLE: FirstRealm = {
  name: 'main',
  baseUrl: 'https://realm.example',
  realmId: 'my-realm',
  keyEnv: 'MAIN_REALM_KEY',
  keyFile: null,
  rate: '24/min',
  certainty: 'manual',
};

function realmLines(realm: FirstRealm): string[] {
  return [
    'realms:',
    `  ${quoted(realm.name)}:`,
    `    baseUrl: ${quoted(realm.baseUrl)}`,
    `    realmId: ${quoted(realm.realmId)}`,
    realm.keyFile === null
      ? `    keyEnv: ${realm.keyEnv ?? 'ALMONER_API_KEY'}   # the environment variable that holds the key`
      : `    keyFile: ${quoted(realm.keyFile)}   # the file that holds the key`,
    `    rate: ${realm.rate}         # requests allowed, reads and writes together`,
    `    certainty: ${realm.certainty}   # idempotent | readback | manual: what becomes of an unknown outcome`,
    '    # maxTokensPerOrder: 10000',
    '    # maxTokensPerBatch: 1000000',
    '    # maxTokensPerDay: 5000000',
  ];
}

function quoted(text: string): string {
  return JSON.stringify(text);
}

const SAMPLE_CSV = `member,tokens,reference,reason
119837460192837465,50,first-airdrop/1,Weekly activity
220938475610293847,75,first-airdrop/2,Bug report
331049586721304958,25,first-airdrop/3,Welcome
`;

const SAMPLE_AUDIENCE = `member,level
119837460192837465,3
220938475610293847,1
331049586721304958,2
`;

function sampleRule(realm: FirstRealm | null): string {
  return `# Ten points a level, once a week and member.
# \`almoner rules plan jobs/first-reward.yaml\` shows who would get what, and why.
name: first-reward
realm: ${realm === null ? 'embedded' : quoted(realm.name)}
period: week
audience:
  file: first-audience.csv
award:
  tokens: row.level * 10
  rounding: floor
limits:
  perMember: 100
  perRun: 1000
reason: Weekly reward
`;
}
