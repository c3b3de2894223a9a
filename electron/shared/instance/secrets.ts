import type { LikelySecret } from './sync.ts'

/** Endings of files with keys, certificates and deployment secrets. */
const endings = [
  ...['.pem', '.key', '.p8', '.p12', '.pfx', '.ppk', '.jks', '.keystore', '.kdbx', '.gpg', '.age', '.ovpn'],
  ...['.tfvars', '.tfvars.json', '.tfstate', '.tfstate.backup'],
]

/** Files in which programs keep their users' secrets, and histories of commands. */
const names = new Set([
  ...[
    '.envrc',
    '.flaskenv',
    'env.sh',
    'application_default_credentials.json',
    'kaggle.json',
    'local.settings.json',
  ],
  ...[
    '.netrc',
    '_netrc',
    '.npmrc',
    '.yarnrc.yml',
    '.pypirc',
    'pip.conf',
    '.pgpass',
    '.my.cnf',
    '.git-credentials',
  ],
  ...[
    '.htpasswd',
    '.dockercfg',
    '.s3cfg',
    '.boto',
    'rclone.conf',
    'kubeconfig',
    '.databrickscfg',
    '.terraformrc',
  ],
  ...[
    'terraform.rc',
    '.mcp.json',
    '.vault_pass',
    '.vault-token',
    'rootkey.csv',
    'stored_tokens',
    'wallet.dat',
  ],
  ...[
    'cookies',
    'cookies.txt',
    'cookies.json',
    'cookies.sqlite',
    'login data',
    'logins.json',
    'key3.db',
    'key4.db',
  ],
  ...['key', 'key.txt', 'key.json', 'keys.txt', 'keys.json', 'auth.json', '.pass', 'shadow'],
])

/** Folders whose files all count as secrets. */
const folders = new Set([
  ...[
    '.ssh',
    '.gnupg',
    '.aws',
    '.azure',
    '.kube',
    '.docker',
    '.config',
    'gcloud',
    '.gcloud',
    '.oci',
    '.databricks',
  ],
  ...['.huggingface', '.kaggle', '.streamlit', '.terraform.d', '.password-store', '.secrets', 'secrets'],
  ...['.credentials', 'credentials'],
])

/** Words in the names of example files, which are made to be shared. */
const examples = new Set(['example', 'sample', 'template', 'dist', 'schema'])

/** Endings of data and text, in which secrets are kept. Code that only deals with them has others. */
const dataEndings = new Set([
  ...[
    '',
    'json',
    'jsonl',
    'yml',
    'yaml',
    'toml',
    'ini',
    'cfg',
    'conf',
    'config',
    'txt',
    'csv',
    'tsv',
    'xml',
    'plist',
  ],
  ...['properties', 'bak', 'old', 'orig', 'enc', 'sh', 'env', 'db', 'sqlite'],
])
const codeEndings = new Set(['py', 'js', 'mjs', 'cjs', 'ts', 'rb', 'php', 'r', 'ps1'])

/** Words before `key` or `token` that mean a secret; models have keys and tokens of other kinds. */
const holders = new Set([
  ...[
    'api',
    'access',
    'auth',
    'oauth',
    'refresh',
    'bearer',
    'bot',
    'secret',
    'private',
    'service',
    'client',
    'user',
  ],
  ...[
    'account',
    'root',
    'admin',
    'master',
    'deploy',
    'encryption',
    'signing',
    'license',
    'ssh',
    'gcp',
    'aws',
    'azure',
  ],
  ...[
    'hf',
    'huggingface',
    'openai',
    'anthropic',
    'claude',
    'gemini',
    'google',
    'github',
    'gh',
    'gitlab',
    'slack',
  ],
  ...[
    'wandb',
    'vast',
    'runpod',
    'kaggle',
    'openrouter',
    'cohere',
    'mistral',
    'replicate',
    'discord',
    'telegram',
  ],
  ...['stripe', 'npm', 'pypi', 'docker', 'cloudflare', 'session', 'id'],
])
/** Words before `token` in the vocabulary of a model. */
const ofModels = new Set([
  ...[
    'bos',
    'eos',
    'pad',
    'unk',
    'cls',
    'sep',
    'mask',
    'special',
    'added',
    'image',
    'audio',
    'next',
    'last',
    'per',
  ],
  ...['num', 'max', 'prompt', 'word', 'sub', 'chat', 'stop', 'start', 'end'],
])

/**
 * Whether a file looks like a secret: by the names of its path, or by its text where it is small. `read` gives its
 * bytes as Latin-1; undefined where it can't be read.
 */
export async function likelySecret(
  path: readonly string[],
  size: number,
  read: () => Promise<string | undefined>,
): Promise<LikelySecret | undefined> {
  const text = size > longestLookedAt ? undefined : await read()
  const holds = text === undefined ? undefined : secretIn(text)
  const byName = looksSecret(path.at(-1) ?? '') || path.slice(0, -1).some(isSecretFolder)
  return byName || holds !== undefined ? { path: path.join('/'), holds } : undefined
}

/** Whether all files in a folder of this name count as secrets. */
export function isSecretFolder(name: string): boolean {
  return folders.has(name.toLowerCase())
}

/** Whether a file looks as if it holds secrets, by its name. */
export function looksSecret(called: string): boolean {
  const name = called.toLowerCase()
  const words = wordsOf(called)
  if (name.endsWith('.pub') || words.some(word => examples.has(word))) return false
  return (
    /^\.env(?![a-z])/.test(name) ||
    name.endsWith('.env') ||
    /^\.[a-z]+_history$/.test(name) ||
    names.has(name) ||
    endings.some(ending => name.endsWith(ending)) ||
    isPrivateKey(name) ||
    speaksOfSecrets(name, words)
  )
}

/** `apiKey-2.json` is `api`, `key` and `2`, and then its ending. */
function wordsOf(called: string): string[] {
  return called
    .replaceAll(/(?<=[a-z0-9])(?=[A-Z])/g, ' ')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter(Boolean)
}

function speaksOfSecrets(name: string, words: readonly string[]): boolean {
  const dot = name.lastIndexOf('.')
  const ending = dot > 0 ? name.slice(dot + 1) : ''
  const stem = dot > 0 ? words.slice(0, -1) : words
  const last = stem.at(-1) ?? ''
  if (codeEndings.has(ending)) return ['secret', 'secrets', 'credentials', 'apikey', 'apikeys'].includes(last)
  const isData = dataEndings.has(ending) || /^[~\d]/.test(ending) || !/^[a-z0-9]+$/.test(ending)
  return isData && stem.some((word, at) => meansSecret(word, stem[at - 1], stem[at + 1]))
}

function meansSecret(word: string, before: string | undefined, after: string | undefined): boolean {
  if (/^(?:secrets?|passwords?|passwd|passphrase|credentials?|apikeys?|apitokens?|adminsdk)$/.test(word))
    return true
  if (word === 'account' || word === 'accounts') return before === 'service'
  if (word === 'key' || word === 'keys' || word === 'tokens')
    return before !== undefined && holders.has(before)
  if (word !== 'token') return false
  if (before !== undefined && holders.has(before)) return true
  return (after === undefined || /^\d+$/.test(after)) && (before === undefined || !ofModels.has(before))
}

/** `id_ed25519`, `id_work` and `id_rsa.old`, but not `id_map.json`. */
function isPrivateKey(name: string): boolean {
  return name.startsWith('id_') && (!name.includes('.') || /^id_(rsa|dsa|ecdsa|ed25519)/.test(name))
}

/** Bytes of the largest file whose content is looked at. */
export const longestLookedAt = 64 * 1024

/** The beginnings of all shapes, so that most files are looked through once. */
const beginnings =
  /PRIVATE KEY|PuTTY-User|AGE-SECRET|hf_|sk-|AKIA|ASIA|gh[pousr]_|github_pat_|glpat-|AIza|ya29\.|xox|k_live_|r8_|npm_|pypi-|dckr_pat|dop_v1_|AccountKey=|SG\.|wandb|WANDB|[vV][aA][sS][tT]/

/** Tokens and keys by their shape, with the words for a file that holds one. */
const shapes: readonly (readonly [string, RegExp])[] = [
  ['a private key', /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY/],
  ['a private key', /PuTTY-User-Key-File-\d/],
  ['a private key', /AGE-SECRET-KEY-1[0-9A-Z]{20}/],
  ['a Hugging Face token', /\bhf_[A-Za-z0-9]{30}/],
  ['an Anthropic key', /\bsk-ant-[A-Za-z0-9_-]{20}/],
  ['an OpenAI key', /\bsk-(?:proj|svcacct|admin)-[A-Za-z0-9_-]{20}/],
  ['an API key', /\bsk-(?:or-v1-)?[A-Za-z0-9]{32}/],
  ['an AWS key', /\b(?:AKIA|ASIA)[A-Z0-9]{16}\b/],
  ['a GitHub token', /\b(?:gh[pousr]_[A-Za-z0-9]{36}|github_pat_[A-Za-z0-9_]{22})/],
  ['a GitLab token', /\bglpat-[A-Za-z0-9_-]{20}/],
  ['a Google key', /\b(?:AIza[A-Za-z0-9_-]{35}|ya29\.[A-Za-z0-9_-]{20})/],
  ['a Slack token', /\bxox[abeprs]-[A-Za-z0-9-]{10}/],
  ['a Stripe key', /\b[sr]k_live_[A-Za-z0-9]{16}/],
  ['a Replicate token', /\br8_[A-Za-z0-9]{37}/],
  ['an npm token', /\bnpm_[A-Za-z0-9]{36}/],
  ['a PyPI token', /\bpypi-[A-Za-z0-9_-]{50}/],
  ['a Docker token', /\bdckr_pat_[A-Za-z0-9_-]{20}/],
  ['a DigitalOcean token', /\bdop_v1_[a-f0-9]{64}/],
  ['an Azure key', /\bAccountKey=[A-Za-z0-9+/]{40}/],
  ['a SendGrid key', /\bSG\.[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{20}/],
  [
    'a W&B key',
    /\b(?:wandb_v1_[A-Za-z0-9_]{20}|(?:wandb_?api_?key|wandb login|wandb\.login|api\.wandb\.ai)[\s\S]{0,60}\b[0-9a-f]{40}\b)/i,
  ],
  ['a Vast.ai key', /\bvast_?(?:ai_?)?api_?key\W{1,6}[0-9a-f]{64}\b/i],
]

/**
 * The kind of secret in a file's bytes as Latin-1, such as `a Hugging Face token`; undefined if none is seen. All shapes
 * are ASCII, so UTF-8 reads alike, and UTF-16 without its zeros.
 */
export function secretIn(bytes: string): string | undefined {
  const text = bytes.startsWith('\u00ff\u00fe') ? bytes.replaceAll('\0', '') : bytes
  if (!beginnings.test(text)) return undefined
  return shapes.find(([, shape]) => {
    const found = shape.exec(text)?.[0]
    // Documents show tokens that end so.
    return found !== undefined && !/x{8}$|EXAMPLE$/i.test(found)
  })?.[0]
}

/** Whether a name sounds like something that must not be remembered, or shown to others, in the clear. */
export function soundsSecret(name: string): boolean {
  return /(TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIAL|_KEY|APIKEY)/i.test(name)
}
