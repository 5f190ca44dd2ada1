# Upgrades the checkout that groundswell.service runs. Run as root: sh /srv/groundswell/deploy/upgrade.sh
# The running site still reads its files, so the new version is built in a copy. The old version is moved to
# /srv/groundswell.old, unless it did not become ready: then the last working version stays there.
set -eu
# The site's user must be able to read the new files.
umask 022
root=$(cd "$(dirname "$0")/.." && pwd)
data=/var/lib/groundswell-site
as_site() { runuser -u groundswell -- "$@"; }

# A second upgrade would delete the copy of the first one. The parent folder is locked, because $root is moved. Programs
# that an upgrade started hold the lock, too, even if the upgrade was killed.
exec 9< "$root/.."
flock -n 9 || { echo "Another upgrade is running." >&2; exit 1; }

is_ready='const options = { host: process.env.HOST || "127.0.0.1", port: process.env.PORT || 3000, path: "/readyz" };
  http.get({ ...options, signal: AbortSignal.timeout(5000) }, (it) => process.exit(it.statusCode === 200 ? 0 : 1))
    .on("error", () => process.exit(1))'
is_ready() { as_site node --env-file=/etc/groundswell.env -e "$is_ready"; }

trap 'rm -rf "$root.new"' EXIT
trap 'exit 1' HUP INT TERM
cd "$root"
rm -rf "$root.new"
# Left after a return to the old version. The mark has a meaning only in $root.old.
rm -f .last-working
# The current version may have become ready after its upgrade failed or was interrupted.
! is_ready || rm -f "$root.old/.last-working"
cp -a . "$root.new"
# An npm prune without --no-save may have changed the lock file, and git pull would then fail.
(cd "$root.new" && git checkout -- package-lock.json && git pull && npm ci && npm run build &&
  npm prune --omit=dev --no-save && as_site node bin/groundswell.js --version)

# The old version makes the backup, because commands update the schema first. If it fails, for example in a migration,
# the last working version makes the backup.
backup() {
  as_site node --env-file=/etc/groundswell.env bin/groundswell.js backup "$data/before-$(date +%F-%H%M%S).backup"
}
backup || ([ -e "$root.old/.last-working" ] && cd "$root.old" && backup)

# Neither an interruption nor a failure may leave the site stopped.
trap '' HUP INT TERM
trap '[ -e "$root" ] || mv "$root.old" "$root"; systemctl start groundswell; rm -rf "$root.new"' EXIT
[ -e "$root.old/.last-working" ] || rm -rf "$root.old"
systemctl stop groundswell
if [ -e "$root.old" ]; then rm -rf "$root"; else mv "$root" "$root.old"; fi
mv "$root.new" "$root"
touch "$root.old/.last-working"
systemctl start groundswell || true
trap - EXIT HUP INT TERM
# After a return to the old version, pages of the new one still request its files.
for part in client console; do
  cp -au "$root/dist/$part/assets/." "$root.old/dist/$part/assets/" || true
done

checks=0
until is_ready; do
  checks=$((checks + 1))
  # The site first updates the schema, which may take minutes.
  if [ "$checks" -eq 60 ] || systemctl is-failed --quiet groundswell; then
    echo "The new version is not ready: see journalctl --unit=groundswell. To return to the old one:" >&2
    echo "systemctl stop groundswell; mv $root $root.new; mv $root.old $root; systemctl start groundswell" >&2
    exit 1
  fi
  sleep 3
done
rm -f "$root.old/.last-working"

# Keeps the latest three of these backups. The site's user can write to their folder, so root does not delete there.
as_site sh -c 'ls -r "$0"/before-20??-??-??-??????.backup | tail -n +4 | xargs -r rm --' "$data"
