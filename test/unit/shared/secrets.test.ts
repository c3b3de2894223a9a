import { describe, expect, test } from 'vitest'
import { isSecretFolder, looksSecret, secretIn } from '#shared/instance/secrets.ts'

const secret = `
.env .env.local prod.env .envrc .env-prod .env_local .env~ env.sh .flaskenv Server.PEM id_rsa id_work id_ed25519.old tls.key
credentials credentials.csv credentials.json kaggle.json .netrc terraform.tfvars prod.auto.tfvars terraform.tfstate
terraform.tfstate.backup rclone.conf kubeconfig client_secret_1.json client_secrets.json my-firebase-adminsdk-x.json token
token.json stored_tokens .databrickscfg hf_token hf_token.txt hf_tokens.txt openai_key.txt api_key.txt password.txt secret.txt
.vault_pass rootkey.csv bob_accessKeys.csv gcp-key.json service-account-prod.json .my.cnf pip.conf .secrets .secrets.toml
secrets.py vast_api_key .bash_history .zsh_history .python_history cookies.txt local.settings.json .mcp.json .terraformrc
backup.age wallet.dat github-token.txt passwd passwords.csv apiKeys.json db_password
`
test.each(secret.trim().split(/\s+/))('%s looks like a secret', name => expect(looksSecret(name)).toBe(true))

const plain = `
.env.example .env-sample id_rsa.pub id_map.json environment.yml keyboard.py monkey train.py tokenizer.json tokenizer_config.json
tokenizer.model special_tokens_map.json added_tokens.json tokens.txt train_tokens.bin token_ids.json token_counts.csv
vocab.json eos_token.json token_classification.py tokenization_llama.py password_strength.py secret_sharing.py token.py
answer_key.json label_keys.csv keypoints.json turkey.txt environment.sh .envelope secrets.example.toml history.json config.json
`
test.each(plain.trim().split(/\s+/))('%s does not look like a secret', name =>
  expect(looksSecret(name)).toBe(false),
)

const folders = `.ssh .aws .azure .config gcloud .huggingface .kaggle .streamlit .oci .databricks secrets .secrets`
test.each(folders.split(' '))('all in the folder %s counts as secret', name =>
  expect(isSecretFolder(name)).toBe(true),
)

describe('the content of a file', () => {
  const letters = 'aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0fG3hJ6kL9n'
  const hex = '0123456789abcdef'.repeat(4)
  test.each([
    ['a private key', '-----BEGIN OPENSSH PRIVATE KEY-----\nabc'],
    ['a private key', '{"private_key": "-----BEGIN PRIVATE KEY-----\\nMII"}'],
    ['a private key', '-----BEGIN ENCRYPTED PRIVATE KEY-----'],
    ['a private key', 'PuTTY-User-Key-File-3: ssh-ed25519'],
    ['a Hugging Face token', `login("hf_${letters.slice(0, 34)}")`],
    ['an OpenAI key', `OPENAI_API_KEY=sk-proj-${letters}`],
    ['an API key', `key: sk-${letters}`],
    ['an Anthropic key', `sk-ant-api03-${letters}`],
    ['an AWS key', `aws_access_key_id = AKIA${letters.slice(0, 16).toUpperCase()}`],
    ['a GitHub token', `https://ghp_${letters.slice(0, 36)}@github.example`],
    ['a GitHub token', `github_pat_${letters}`],
    ['a Google key', `AIza${letters.slice(0, 35)}`],
    ['a W&B key', `export WANDB_API_KEY="${hex.slice(0, 40)}"`],
    ['a W&B key', `wandb login ${hex.slice(0, 40)}`],
    ['a W&B key', `machine api.wandb.ai\n  login user\n  password ${hex.slice(0, 40)}`],
    ['a Vast.ai key', `VAST_API_KEY=${hex}`],
    ['a Slack token', `xoxb-${letters}`],
    ['a GitLab token', `glpat-${letters.slice(0, 20)}`],
    ['a Stripe key', `sk_live_${letters.slice(0, 24)}`],
  ])('shows %s in %s', (holds, text) => {
    expect(secretIn(Buffer.from(text).toString('latin1'))).toBe(holds)
    expect(secretIn(Buffer.from(`\ufeff${text}`, 'utf16le').toString('latin1'))).toBe(holds)
  })

  test.each([
    'token = os.environ["HF_TOKEN"]',
    `hf_${'x'.repeat(34)}`,
    'AKIAIOSFODNN7EXAMPLE',
    '-----BEGIN PUBLIC KEY-----',
    `import wandb\nwandb.init()\n# commit ${hex.slice(0, 40)}`,
    'task-sk-learn, scikit-learn, hf_hub_download(repo_id, filename)',
    'disk-based-and-more-than-thirty-two-letters-in-all',
  ])('shows nothing in %s', text => expect(secretIn(Buffer.from(text).toString('latin1'))).toBeUndefined())
})
