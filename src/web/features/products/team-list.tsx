import type { TeamMember } from '../../../contract/products/schema.ts';
import { Avatar } from '../../ui/avatar.tsx';

export function TeamList({ team }: { team: readonly TeamMember[] }) {
  return (
    <section className="card side-card" aria-labelledby="team-title">
      <h2 id="team-title">Meet the team</h2>
      {team.length === 0 && <p className="side-card-empty">The team has not introduced itself yet.</p>}
      <ul className="team-list">
        {team.map((member) => (
          <li key={`${member.name} ${member.role}`}>
            <Avatar name={member.name} src={member.avatar} />
            <div className="team-list-words">
              <p className="team-list-name">{member.name}</p>
              <p className="team-list-role">{member.role}</p>
            </div>
          </li>
        ))}
      </ul>
    </section>
  );
}
