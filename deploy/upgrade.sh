# Upgrades the checkout that groundswell.service runs. Run as root: sh /srv/groundswell/deploy/upgrade.sh
# The running site reads its files, so the new version is built in a copy. The old one is kept in /srv/groundswell.old.
set -eu

cd /srv/groundswell
rm -rf ../groundswell.new ../groundswell.old
cp -a . ../groundswell.new
# An npm prune without --no-save may have changed the lock file, and git pull would then fail.
(cd ../groundswell.new && git checkout -- package-lock.json && git pull && npm ci && npm run build && npm prune --omit=dev --no-save)

# The old version makes the backup, because commands update the schema first.
runuser -u groundswell -- node --env-file=/etc/groundswell.env bin/groundswell.js \
  backup "/var/lib/groundswell-site/before-$(date +%F-%H%M%S).backup"

systemctl stop groundswell
mv ../groundswell ../groundswell.old
mv ../groundswell.new ../groundswell
systemctl start groundswell
