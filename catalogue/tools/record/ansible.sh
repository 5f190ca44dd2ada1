sample playbook.yml
export ANSIBLE_FORCE_COLOR=1 ANSIBLE_LOCALHOST_WARNING=False ANSIBLE_INVENTORY_UNPARSED_WARNING=False COLUMNS=70
rec 1; shown 'ansible-playbook playbook.yml' 'ansible-playbook -e "base=$PWD" playbook.yml'
sed -i 's/\*\{30,\}/******************************/' "$out"
sed -i 's/berths: 12/berths: 16/' playbook.yml
rec 2; shown 'ansible-playbook --check --diff playbook.yml' 'ansible-playbook -e "base=$PWD" --check --diff playbook.yml | sed "s#$PWD/##g"'
sed -i 's/\*\{30,\}/******************************/' "$out"
