/** Endings of files that hold keys and certificates. */
const endings = ['.pem', '.key', '.p12', '.pfx', '.ppk', '.jks', '.keystore', '.kdbx', '.gpg']

/** Files in which programs keep their users' secrets. */
const names = new Set([
  'credentials',
  'credentials.json',
  'credentials.yml',
  'credentials.yaml',
  'credentials.toml',
  'application_default_credentials.json',
  'secrets.json',
  'secrets.yml',
  'secrets.yaml',
  'secrets.toml',
  'service-account.json',
  'service_account.json',
  'kaggle.json',
  '.netrc',
  '_netrc',
  '.npmrc',
  '.pypirc',
  '.pgpass',
  '.git-credentials',
  '.htpasswd',
  '.dockercfg',
  '.s3cfg',
  '.boto',
  '.vast_api_key',
])

/** Folders whose files all count as secrets. */
const folders = new Set(['.ssh', '.gnupg', '.aws', '.kube', '.docker'])

/** Endings of example files, which are made to be shared. */
const examples = ['.example', '.sample', '.template', '.dist']

export function isSecretFolder(name: string): boolean {
  return folders.has(name.toLowerCase())
}

/** Whether a file looks as if it holds secrets, by its name. */
export function looksSecret(called: string): boolean {
  const name = called.toLowerCase()
  if (name === '.env' || name.startsWith('.env.') || name.endsWith('.env'))
    return !examples.some(ending => name.endsWith(ending))
  if (name.endsWith('.pub')) return false
  return names.has(name) || endings.some(ending => name.endsWith(ending)) || isPrivateKey(name)
}

/** `id_ed25519`, `id_work` and `id_rsa.old`, but not `id_map.json`. */
function isPrivateKey(name: string): boolean {
  return name.startsWith('id_') && (!name.includes('.') || /^id_(rsa|dsa|ecdsa|ed25519)/.test(name))
}
